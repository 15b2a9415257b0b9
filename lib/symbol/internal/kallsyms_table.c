/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of symbols has 100,000 lines and more, of which a report needs those of an image or two.
 * So loading finds the headings; the lines below one are parsed when its image is needed. */
#include "symbol/kallsyms.h"

#include "base/digest.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/span.h"
#include "file/holes.h"
#include "file/open_regular.h"
#include "file/path.h"

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
	bool mapped; /* the text is the mapped file */
};

/* A line, borrowed from the text. */
struct line {
	uint64_t address;
	const char *name, *module; /* not terminated; the module without brackets */
	size_t name_length, module_length;
	char type;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The next word before @end; its length may be 0. */
static const char *take_word(const char **at, const char *end, size_t *ret_length)
{
	const char *word = *at, *p;

	while (word < end && is_blank(*word))
		word++;
	for (p = word; p < end && !is_blank(*p); p++)
		;
	*ret_length = (size_t)(p - word);
	*at = p;
	return word;
}

static bool parse_address(const char *word, size_t length, uint64_t *ret)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < length; i++) {
		unsigned int digit = (unsigned char)word[i];

		if (digit - '0' < 10)
			digit -= '0';
		else if ((digit | 0x20) - 'a' < 6)
			digit = (digit | 0x20) - 'a' + 10;
		else
			return false;
		value = value << 4 | digit;
	}
	*ret = value;
	return length && length <= 16;
}

/* Parses eight lower-case hexadecimal digits at once; false if they are not. */
static bool parse_digits(const char *at, uint64_t *ret)
{
	const uint64_t ones = 0x0101010101010101ULL;
	uint64_t text = get_le64(at), letters = text >> 6 & ones, low = text & ones * 0x0f, bad;

	/* "0" to "9" are 0x30 to 0x39, "a" to "f" are 0x61 to 0x66. */
	bad = (text >> 4 & ones * 0x0f) ^ (ones * 3 + letters * 3);
	bad |= (low + ones * 6 + letters * 3) & ones << 4;
	bad |= letters << 4 & ~(low + ones * 0x0f);
	if (bad || text & ones << 7)
		return false;
	/* Of two neighbours the first is the upper half. */
	text = low + letters * 9;
	text = (text & 0x00ff00ff00ff00ffULL) << 4 | (text >> 8 & 0x00ff00ff00ff00ffULL);
	text = (text & 0x0000ffff0000ffffULL) << 8 | (text >> 16 & 0x0000ffff0000ffffULL);
	*ret = (text & 0xffff) << 16 | text >> 32;
	return true;
}

/* Parses a line in the form that we write: 16 digits, a blank, the type, a blank, the name. False
 * for any other. */
static bool parse_own(const char *at, const char *end, struct line *ret)
{
	enum { NAME = 19 };
	uint64_t upper, lower;
	size_t length = (size_t)(end - at) - NAME;

	if (end - at <= NAME || at[16] != ' ' || at[18] != ' ' || is_blank(at[17]) ||
	    !parse_digits(at, &upper) || !parse_digits(at + 8, &lower) ||
	    memchr(at + NAME, ' ', length) || memchr(at + NAME, '\t', length))
		return false;
	ret->address = upper << 32 | lower;
	ret->type = at[17];
	ret->name = at + NAME;
	ret->name_length = length;
	ret->module_length = 0;
	return true;
}

/* As kallsyms_line_parse(), but faster and without changing the text. */
static bool parse_line(const char *at, const char *end, struct line *ret)
{
	size_t length;
	const char *word = take_word(&at, end, &length);

	if (!parse_address(word, length, &ret->address))
		return false;
	word = take_word(&at, end, &length);
	ret->type = *word;
	if (length != 1)
		return false;
	ret->name = take_word(&at, end, &ret->name_length);
	ret->module = take_word(&at, end, &length);
	ret->module_length = 0;
	if (length) {
		if (length < 2 || *ret->module != '[' || ret->module[length - 1] != ']')
			return false;
		ret->module++;
		ret->module_length = length - 2;
	}
	return ret->name_length;
}

static bool is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* Finds the next line with a symbol of the piece's image; false at the end. */
static bool next_symbol(const struct piece *piece, const char **at, struct line *ret)
{
	const char *end = piece->text + piece->size, *newline, *from;

	while (*at < end) {
		from = *at;
		newline = memchr(from, '\n', (size_t)(end - from));
		newline = newline ? newline : end;
		*at = newline + (newline < end);
		if (*from == '#' ||
		    (!parse_own(from, newline, ret) && !parse_line(from, newline, ret)) ||
		    !is_text(ret->type))
			continue;
		if (!piece->plain || (!ret->module_length && ret->address))
			return true;
	}
	return false;
}

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

static void add_piece(struct image *image, const char *text, const char *end, bool plain)
{
	if (text >= end)
		return;
	array_grow(&image->pieces, image->count + 1, &image->room);
	image->pieces[image->count++] = (struct piece){ text, (size_t)(end - text), plain };
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
	kind = take_word(&at, end, &kind_length);
	is_text = kind_length == 4 && !memcmp(kind, "text", 4);
	is_absolute = kind_length == 8 && !memcmp(kind, "absolute", 8);
	if (!is_text && !is_absolute && !(kind_length == 6 && !memcmp(kind, "module", 6)))
		return false;
	if (!is_text)
		name = take_word(&at, end, &name_length);
	if (!is_text && (!name_length || memchr(name, '\0', name_length)))
		return false;
	if (!is_absolute) {
		start = take_word(&at, end, &start_length);
		stop = take_word(&at, end, &end_length);
		if (!parse_address(start, start_length, &from) ||
		    !parse_address(stop, end_length, &to))
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
	const char *end = k->text + k->size, *from = k->text, *at = from, *hash;
	size_t current = image_index(k, "", 0), next;
	bool plain = true;

	while (at < end && (hash = memchr(at, '#', (size_t)(end - at)))) {
		const char *newline = memchr(hash, '\n', (size_t)(end - hash));

		newline = newline ? newline : end;
		at = hash + 1;
		if ((hash > k->text && hash[-1] != '\n') || !load_heading(k, hash, newline, &next))
			continue;
		add_piece(&k->images[current], from, hash, plain);
		current = next;
		plain = false;
		from = at = newline + (newline < end);
	}
	add_piece(&k->images[current], from, end, plain);
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

/* Reads the lines of an image. */
static void read_image(struct image *image)
{
	size_t size = 1, room = 0, n = 0, i;
	struct line line;
	char *name;

	for (i = 0; i < image->count; i++)
		size += image->pieces[i].size;
	/* Type, name and NUL fit into the length of the line, which has a digit and two blanks
	 * more. */
	name = image->names = xmalloc(size);
	array_grow(&image->symbols, size / 32 + 1, &room);
	for (i = 0; i < image->count; i++) {
		const char *at = image->pieces[i].text;

		while (next_symbol(&image->pieces[i], &at, &line)) {
			array_grow(&image->symbols, n + 1, &room);
			*name++ = line.type;
			image->symbols[n++] = (struct kallsyms_symbol){ line.address, name };
			memcpy(name, line.name, line.name_length);
			name += line.name_length;
			*name++ = '\0';
		}
	}
	sort_symbols(image->symbols, n);
	image->shown.symbols = image->symbols;
	image->shown.count = n;
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
	struct line line;
	size_t i, j;

	for (i = 0; i < k->count; i++) {
		for (j = 0; j < k->images[i].count; j++) {
			const char *at = k->images[i].pieces[j].text;

			if (next_symbol(&k->images[i].pieces[j], &at, &line))
				return true;
		}
	}
	return false;
}

/* Finds the images of the text. */
static int load_text(struct kallsyms *k, const char *name, struct error *err)
{
	struct image *kernel;

	cut(k);
	if (!has_symbol(k))
		return error_set(err, -ENODATA, "%s: no symbols", name);
	kernel = &k->images[0];
	if (kernel->count && kernel->pieces[0].plain) {
		read_image(kernel);
		find_marks(&kernel->shown);
	}
	return 0;
}

int kallsyms_load_stream(FILE *f, const char *name, struct kallsyms **ret, struct error *err)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = xcalloc(1, sizeof(*k));
	size_t room = 0, n;
	int r;

	do {
		array_grow(&k->text, k->size + BUFSIZ, &room);
		n = fread(k->text + k->size, 1, room - k->size, f);
		k->size += n;
	} while (n);
	r = ferror(f) ? error_errno(err, -errno, "%s", name) : load_text(k, name, err);
	if (r < 0)
		return r;
	*ret = STEAL(k);
	return 0;
}

/* Maps the file as the text; false if it cannot be mapped, like a file of /proc. */
static bool map_file(struct kallsyms *k, int fd)
{
	struct stat st;
	void *text;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return false;
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return false;
	k->text = text;
	k->size = (size_t)st.st_size;
	k->mapped = true;
	return true;
}

int kallsyms_load(const char *path, struct kallsyms **ret, struct error *err)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = xcalloc(1, sizeof(*k));
	_cleanup_fclose_ FILE *f = open_regular_stream(path);
	int r;

	if (!f)
		return error_set(err, -errno, "%s: %s", path, open_regular_why(-errno));
	if (!map_file(k, fileno(f)))
		return kallsyms_load_stream(f, path, ret, err);
	if (holes_prevail(fileno(f), k->size))
		return error_set(err, -EBADMSG, "%s: %s", path, holes_text);
	r = load_text(k, path, err);
	if (r < 0)
		return r;
	*ret = STEAL(k);
	return 0;
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
	return find_image(k, name);
}

/* Takes the next word of a remark, which ends at @end; returns whether it is @word. */
static bool take_this(const char **at, const char *end, const char *word)
{
	size_t length;
	const char *found = take_word(at, end, &length);

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

		ret[0] = digest_bytes(piece->text, piece->size, ret[0]);
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
		read_image(image);
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
