/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kernel has 100,000 symbols and more, of which a report needs those of an image or two. So
 * loading finds the images; their lines are unpacked and parsed when they are needed. */
#include "symbol/internal/kallsyms_table.h"

#include "base/digest.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "file/holes.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "symbol/internal/kallsyms_pack.h"
#include "symbol/internal/symbol_line.h"
#include "symbol/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Lines that belong to one image. */
struct piece {
	const char *text;
	size_t size;
	bool plain; /* without heading: a copy of kallsyms, with modules and data */
	const struct kallsyms_packed *packed; /* ->text is NULL until it is unpacked; or NULL */
};

struct image {
	struct kallsyms_image shown;
	struct piece *pieces;
	size_t count, room;
	struct kallsyms_symbol *symbols; /* NULL: not parsed yet */
	char *names;
};

struct kallsyms {
	struct image *images;
	size_t count, room;
	char *text;
	size_t size;
	bool mapped;		    /* the text is the mapped file */
	struct kallsyms_pack *pack; /* or NULL */
	char *name;		    /* of the file, for messages */
};

static size_t image_index(struct kallsyms *k, const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < k->count; i++)
		if (!strncmp(k->images[i].shown.name, name, length) &&
		    !k->images[i].shown.name[length])
			return i;
	array_grow(&k->images, k->count + 1, &k->room);
	k->images[k->count++] = (struct image){ .shown.name = xstrndup(name, length) };
	return i;
}

static void add_piece(struct image *image, const struct piece *piece)
{
	array_grow(&image->pieces, image->count + 1, &image->room);
	image->pieces[image->count++] = *piece;
}

/* Adds the lines from @text to @end. What is before the first heading may only be remarks. */
static void add_lines(struct image *image, const char *text, const char *end, bool plain)
{
	struct piece piece = { .text = text, .size = (size_t)(end - text), .plain = plain };
	const char *at = text;
	struct symbol_line line;

	if (text < end && (!plain || symbol_line_next(&at, end, plain, &line)))
		add_piece(image, &piece);
}

/* Parses a heading, "# text START END", "# module NAME START END" or "# absolute NAME"; false for
 * other remarks. */
static bool load_heading(struct kallsyms *k, const char *at, const char *end, size_t *ret)
{
	size_t kind_length, name_length = 0, start_length, end_length;
	const char *kind, *name = "", *start, *stop;
	uint64_t from = 0, to = 0;
	bool is_text, is_absolute;

	at++;
	kind = symbol_line_word(&at, end, &kind_length);
	is_text = kind_length == 4 && !memcmp(kind, "text", 4);
	is_absolute = kind_length == 8 && !memcmp(kind, "absolute", 8);
	if (!is_text && !is_absolute && !(kind_length == 6 && !memcmp(kind, "module", 6)))
		return false;
	if (!is_text)
		name = symbol_line_word(&at, end, &name_length);
	if (!is_text && (!name_length || memchr(name, '\0', name_length)))
		return false;
	if (!is_absolute) {
		start = symbol_line_word(&at, end, &start_length);
		stop = symbol_line_word(&at, end, &end_length);
		if (!symbol_line_address(start, start_length, &from) ||
		    !symbol_line_address(stop, end_length, &to))
			return false;
	}
	*ret = image_index(k, name, name_length);
	if (!k->images[*ret].shown.start) {
		k->images[*ret].shown.start = from;
		k->images[*ret].shown.end = to;
	}
	return true;
}

/* Splits the text at its headings. */
static void cut(struct kallsyms *k)
{
	const char *from = k->text, *at = from, *end = from ? from + k->size : from, *hash;
	size_t current = image_index(k, "", 0), next;
	bool plain = true;

	while (at < end && (hash = memchr(at, '#', (size_t)(end - at)))) {
		const char *newline = memchr(hash, '\n', (size_t)(end - hash));

		newline = newline ? newline : end;
		at = hash + 1;
		if ((hash > k->text && hash[-1] != '\n') || !load_heading(k, hash, newline, &next))
			continue;
		add_lines(&k->images[current], from, hash, plain);
		current = next;
		plain = false;
		from = at = newline + (newline < end);
	}
	add_lines(&k->images[current], from, end, plain);
}

static bool ends_with(const char *text, const char *tail)
{
	size_t length = strlen(text), n = strlen(tail);

	return length >= n && !strcmp(text + length - n, tail);
}

/* How bad a name a symbol is: linker's marks are worst, local names worse than global ones. */
static unsigned int obscurity(const char *name, char type)
{
	unsigned int underscores = (unsigned int)strspn(name, "_.");

	return (ends_with(name, "_text") || ends_with(name, "_stext") ||
		ends_with(name, "_etext") || ends_with(name, "_text_start") ||
		ends_with(name, "_text_end")) *
		       1000 +
	       (type == 't') * 100 + (type == 'w' || type == 'W') * 200 + MIN(underscores, 99U);
}

/* The type of a symbol is stored before its name. */
static int compare_symbols(const void *a, const void *b)
{
	const struct kallsyms_symbol *x = a, *y = b;
	unsigned int xrank, yrank;

	if (x->address != y->address)
		return (x->address > y->address) - (x->address < y->address);
	xrank = obscurity(x->name, x->name[-1]);
	yrank = obscurity(y->name, y->name[-1]);
	return xrank != yrank ? (xrank > yrank) - (xrank < yrank) : strcmp(x->name, y->name);
}

/* Sorts the symbols; most are in order already, and few share an address. */
static void sort_symbols(struct kallsyms_symbol *symbols, size_t count)
{
	size_t i, end;

	for (i = 1; i < count && symbols[i - 1].address <= symbols[i].address; i++)
		;
	if (i < count) {
		qsort(symbols, count, sizeof(*symbols), compare_symbols);
		return;
	}
	for (i = 0; i < count; i = end) {
		for (end = i + 1; end < count && symbols[end].address == symbols[i].address; end++)
			;
		if (end - i > 1)
			qsort(symbols + i, end - i, sizeof(*symbols), compare_symbols);
	}
}

/* Adds the symbols of a piece with the lines @text. Their names go to *@names, each after its type;
 * if that is NULL, they stay in the text, which is the image's own. */
static void read_lines(struct image *image, const struct piece *piece, const char *text,
		       char **names, size_t *room)
{
	const char *at = text;
	struct symbol_line line;

	while (symbol_line_next(&at, text + piece->size, piece->plain, &line)) {
		char *name = *names ? *names + 1 : (char *)line.name;

		if (*names) {
			memcpy(name, line.name, line.name_length);
			*names = name + line.name_length + 1;
		}
		name[-1] = line.type;
		name[line.name_length] = '\0';
		array_grow(&image->symbols, image->shown.count + 1, room);
		image->symbols[image->shown.count++] =
			(struct kallsyms_symbol){ line.address, name };
	}
}

/* Reads the lines of an image. */
static void read_image(const struct kallsyms *k, struct image *image)
{
	const struct kallsyms_packed *packed = image->count ? image->pieces[0].packed : NULL;
	size_t size = 1, room = 0, i;
	char *names = NULL;

	for (i = 0; i < image->count; i++)
		size += image->pieces[i].size;
	array_grow(&image->symbols, size / 32 + 1, &room);
	/* What is packed is one piece. Type, name and NUL fit into the length of a line, which has
	 * a digit and two blanks more. */
	image->names = packed ? kallsyms_pack_text(packed) : xmalloc(size);
	if (!image->names)
		log_warn("%s: the symbols of %s are damaged", k->name,
			 *image->shown.name ? image->shown.name : "the kernel");
	if (packed && image->names)
		read_lines(image, &image->pieces[0], image->names, &names, &room);
	names = image->names;
	for (i = 0; i < image->count && !packed; i++)
		read_lines(image, &image->pieces[i], image->pieces[i].text, &names, &room);
	sort_symbols(image->symbols, image->shown.count);
	image->shown.symbols = image->symbols;
}

/* The start and end of the kernel in a plain copy, which has no headings, from its symbols. */
static void find_marks(struct kallsyms_image *kernel)
{
	uint64_t text = 0, stext = 0, etext = 0;
	size_t i;

	for (i = 0; i < kernel->count; i++) {
		const struct kallsyms_symbol *sym = &kernel->symbols[i];

		if (!strcmp(sym->name, "_text"))
			text = sym->address;
		else if (!strcmp(sym->name, "_stext"))
			stext = sym->address;
		else if (!strcmp(sym->name, "_etext"))
			etext = sym->address;
	}
	if (!text && !stext)
		return;
	kernel->start = text ? text : stext;
	kernel->end = etext;
}

/* Whether there is a symbol at all. */
static bool has_symbol(const struct kallsyms *k)
{
	struct symbol_line line;
	size_t i, j;

	for (i = 0; i < k->count; i++) {
		for (j = 0; j < k->images[i].count; j++) {
			const struct piece *piece = &k->images[i].pieces[j];
			const char *at = piece->text;

			if (piece->packed ||
			    symbol_line_next(&at, at + piece->size, piece->plain, &line))
				return true;
		}
	}
	return false;
}

/* Finds the images of the text. */
static void load_text(struct kallsyms *k)
{
	struct image *kernel;

	cut(k);
	kernel = &k->images[0];
	if (kernel->count && kernel->pieces[0].plain) {
		read_image(k, kernel);
		find_marks(&kernel->shown);
	}
}

/* Finds the images that are packed, which are not in the text. */
static void load_packed(struct kallsyms *k)
{
	size_t i, index;

	for (i = 0; i < k->pack->count; i++) {
		const struct kallsyms_packed *packed = &k->pack->images[i];
		struct piece piece = { .size = packed->text_size, .packed = packed };

		index = image_index(k, packed->name, strlen(packed->name));
		if (k->images[index].count)
			continue;
		k->images[index].shown.start = packed->start;
		k->images[index].shown.end = packed->end;
		add_piece(&k->images[index], &piece);
	}
}

/* Returns @k, whose files were found, in *@ret if it has a symbol. */
static int load(struct kallsyms *k, const char *name, struct kallsyms **ret, struct error *err)
{
	k->name = xstrdup(name);
	load_text(k);
	if (k->pack)
		load_packed(k);
	if (has_symbol(k)) {
		*ret = k;
		return 0;
	}
	kallsyms_free(k);
	return error_set(err, -ENODATA, "%s: no symbols", name);
}

/* Reads the text from @f; 0 or -errno. */
static int read_text(struct kallsyms *k, FILE *f, const char *name, struct error *err)
{
	size_t room = 0, n;

	do {
		array_grow(&k->text, k->size + BUFSIZ, &room);
		n = fread(k->text + k->size, 1, room - k->size, f);
		k->size += n;
	} while (n);
	return ferror(f) ? error_errno(err, -errno, "%s", name) : 0;
}

int kallsyms_load_stream(FILE *f, const char *name, struct kallsyms **ret, struct error *err)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = xcalloc(1, sizeof(*k));
	int r = read_text(k, f, name, err);

	return r < 0 ? r : load(STEAL(k), name, ret, err);
}

int kallsyms_take_text(struct strbuf *text, const char *name, struct kallsyms **ret,
		       struct error *err)
{
	struct kallsyms *k = xcalloc(1, sizeof(*k));

	k->size = text->length;
	k->text = strbuf_take(text);
	return load(k, name, ret, err);
}

/* Maps the file @path as the text; one of /proc cannot be mapped, and is read. 0 or -errno. */
static int map_file(struct kallsyms *k, const char *path, struct error *err)
{
	_cleanup_fclose_ FILE *f = open_regular_stream(path);
	int fd = f ? fileno(f) : -1;
	struct stat st;
	void *text;

	if (!f)
		return error_set(err, -errno, "%s: %s", path, open_regular_why(-errno));
	if (fstat(fd, &st) < 0)
		return error_errno(err, -errno, "%s", path);
	if (st.st_size <= 0)
		return read_text(k, f, path, err);
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return error_errno(err, -errno, "%s", path);
	k->text = text;
	k->size = (size_t)st.st_size;
	k->mapped = true;
	if (holes_prevail(fd, k->size))
		return error_set(err, -EBADMSG, "%s: %s", path, holes_text);
	return 0;
}

int kallsyms_load_plain(const char *path, struct kallsyms **ret, struct error *err)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = xcalloc(1, sizeof(*k));
	int r = map_file(k, path, err);

	if (r < 0)
		return r;
	load_text(k);
	*ret = STEAL(k);
	return 0;
}

int kallsyms_load(const char *path, struct kallsyms **ret, struct error *err)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = xcalloc(1, sizeof(*k));
	_cleanup_free_ char *packed = xasprintf("%s" KALLSYMS_PACKED, path);
	int plain = map_file(k, path, err), r;

	if (plain < 0 && plain != -ENOENT)
		return plain;
	r = kallsyms_pack_open(packed, &k->pack, plain < 0 ? NULL : err);
	if (r < 0 && (r != -ENOENT || plain < 0))
		return r;
	return load(STEAL(k), path, ret, err);
}

void kallsyms_free(struct kallsyms *k)
{
	size_t i;

	if (!k)
		return;
	for (i = 0; i < k->count; i++) {
		free((char *)k->images[i].shown.name);
		free(k->images[i].pieces);
		free(k->images[i].symbols);
		free(k->images[i].names);
	}
	free(k->images);
	free(k->name);
	kallsyms_pack_free(k->pack);
	if (k->mapped)
		(void)munmap(k->text, k->size);
	else
		free(k->text);
	free(k);
}

static struct image *find_image(const struct kallsyms *k, const char *name)
{
	size_t i;

	for (i = 0; i < k->count; i++)
		if (!strcmp(k->images[i].shown.name, name))
			return &k->images[i];
	return NULL;
}

bool kallsyms_has(const struct kallsyms *k, const char *name)
{
	const struct image *image = find_image(k, name);

	return image && image->count;
}

/* Takes the next word of a remark, which ends at @end; returns whether it is @word. */
static bool take_this(const char **at, const char *end, const char *word)
{
	size_t length;
	const char *found = symbol_line_word(at, end, &length);

	return length == strlen(word) && !memcmp(found, word, length);
}

bool kallsyms_is_of_boot(const struct kallsyms *k, const char *name, const char *boot)
{
	const char *end = k->text + k->size, *hash = end, *at, *newline;

	while ((hash = memrchr(k->text, '#', (size_t)(hash - k->text)))) {
		bool is_same;

		newline = memchr(hash, '\n', (size_t)(end - hash));
		at = hash + 1;
		if (!newline || (hash > k->text && hash[-1] != '\n') ||
		    !take_this(&at, newline, "boot"))
			continue;
		is_same = take_this(&at, newline, boot);
		if (at == newline || take_this(&at, newline, name))
			return is_same;
	}
	return false;
}

bool kallsyms_digest(const struct kallsyms *k, const char *name, uint64_t ret[2])
{
	const struct image *image = find_image(k, name);
	size_t i;

	if (!image)
		return false;
	ret[0] = digest_bytes(&image->shown.start, sizeof(image->shown.start), 1);
	ret[1] = digest_bytes(&image->shown.end, sizeof(image->shown.end), 2);
	for (i = 0; i < image->count; i++) {
		const struct piece *piece = &image->pieces[i];

		ret[0] = piece->packed
				 ? digest_bytes(piece->packed->bytes, piece->packed->size, ret[0])
				 : digest_bytes(piece->text, piece->size, ret[0]);
		ret[1] = hash_add(ret[1], piece->size);
	}
	ret[1] = hash_add(ret[1], ret[0]);
	/* Mostly no more of the text is needed. */
	if (k->mapped)
		(void)madvise(k->text, k->size, MADV_DONTNEED);
	return true;
}

const struct kallsyms_image *kallsyms_image(const struct kallsyms *k, const char *name)
{
	struct image *image = find_image(k, name);

	if (image && !image->symbols)
		read_image(k, image);
	return image ? &image->shown : NULL;
}

size_t kallsyms_image_count(const struct kallsyms *k)
{
	return k->count;
}

const struct kallsyms_image *kallsyms_image_at(const struct kallsyms *k, size_t i)
{
	return kallsyms_image(k, k->images[i].shown.name);
}
