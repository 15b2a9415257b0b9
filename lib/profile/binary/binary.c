/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/binary/binary.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "elf/debugfile.h"
#include "symbol/elfcode.h"
#include "symbol/elfsym.h"
#include "elf/filefind.h"
#include "symbol/symcache.h"
#include "profile/select/gather.h"
#include "profile/binary/internal/kernel_binaries.h"
#include "profile/binary/internal/lending.h"
#include "profile/binary/internal/search.h"
#include "sfile/manifest.h"
#include "sfile/session.h"
#include "sfile/sfile.h"
#include "sfile/source_image.h"

#include <inttypes.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int add_image_path(const char *part, void *data)
{
	struct binaries *bs = data;

	if (bs->root_count == ROOTS_MAX) {
		log_warn("--image-path: only the first %d directories are searched", ROOTS_MAX - 1);
		return 1;
	}
	if (!*part)
		return 0;
	bs->root_copies[bs->root_count] = xstrdup(part);
	bs->roots[bs->root_count] = bs->root_copies[bs->root_count];
	bs->root_count++;
	filefind_add(bs->found, part);
	return 0;
}

struct binaries *binaries_new(const struct gather *g, const struct binaries_config *config)
{
	struct binaries *bs = xcalloc(1, sizeof(*bs));

	bs->gather = g;
	bs->root = config->root ? config->root : "";
	bs->roots[bs->root_count++] = bs->root;
	bs->found = filefind_new();
	if (config->image_paths)
		(void)parse_list(config->image_paths, ',', add_image_path, bs);
	/* Files in the image paths can make a better table, and can change at any time. */
	bs->cache = config->symbols_only && !config->image_paths ? config->cache : NULL;
	bs->kernels = kernel_binaries_new(
		g, &(struct kernel_binaries_config){ .root = bs->root,
						     .found = bs->found,
						     .cache = config->cache,
						     .code = config->code,
						     .vmlinux = config->vmlinux });
	bs->image_count = g->image_count;
	bs->reading = config->reading;
	bs->lender = config->lender;
	bs->fetched = xcalloc(g->image_count + 1, sizeof(*bs->fetched));
	bs->outcomes = xcalloc(g->image_count + 1, sizeof(*bs->outcomes));
	if (config->keep)
		bs->kept = xcalloc(g->image_count + 1, sizeof(*bs->kept));
	bs->lends = xcalloc(g->image_count + 1, sizeof(*bs->lends));
	return bs;
}

void binaries_take_fetched(struct binaries *bs, uint32_t image, bool is_debug, char *path)
{
	struct fetched *f = &bs->fetched[image];
	char **to = is_debug ? &f->debug : &f->file;

	free(*to);
	*to = path;
}

void binaries_free(struct binaries *bs)
{
	size_t i;

	if (!bs)
		return;
	if (bs->changed > WARNINGS_MAX)
		log_warn("%zu more files are not those that were profiled",
			 bs->changed - WARNINGS_MAX);
	for (i = 0; bs->kept && i < bs->image_count; i++)
		symtab_free(bs->kept[i].symtab);
	free(bs->kept);
	free(bs->lends);
	for (i = 0; i < bs->image_count; i++) {
		free(bs->fetched[i].file);
		free(bs->fetched[i].debug);
	}
	free(bs->fetched);
	free(bs->outcomes);
	for (i = 0; i < ROOTS_MAX; i++)
		free(bs->root_copies[i]);
	filefind_free(bs->found);
	kernel_binaries_free(bs->kernels);
	free(bs);
}

void binaries_count(const struct binaries *bs, size_t *ret_files, size_t *ret_gone)
{
	size_t i;

	*ret_files = *ret_gone = 0;
	for (i = 0; i < bs->image_count; i++) {
		*ret_files += bs->outcomes[i] != NOT_OPENED;
		*ret_gone += bs->outcomes[i] == GONE;
	}
}

char *binaries_kept_path(struct binaries *bs, uint32_t image)
{
	struct search s = search_for(bs, image, NULL);

	return search_kept(&s);
}

bool binaries_lends(const struct binaries *bs)
{
	return bs->lends_count;
}

size_t binaries_opened(const struct binaries *bs)
{
	return bs->opened;
}

/* The symbols of a kernel's file and of its debug file, which the table then owns. */
static struct symtab *kernel_symbols(struct elffile *ef, struct elffile *debug)
{
	struct symtab *st = symtab_new();

	if (debug)
		symtab_hold(st, debug, elfsym_release);
	symtab_hold(st, ef, elfsym_release);
	(void)elfsym_load(ef, debug, ELFSYM_FROM_TEXT, st);
	symtab_settle(st);
	return st;
}

/* Reads the symbols of an open file, which the table then owns, with its debug file if there is
 * one. */
static void load_symbols(const struct search *s, struct elffile *ef, enum elfsym_unit unit,
			 struct binary *ret)
{
	struct elffile *debug = search_debug(s, ef);
	struct symtab *st = unit == ELFSYM_FROM_TEXT
				    ? kernel_symbols(ef, debug)
				    : elfcode_symbols(ef, debug, path_base(s->image->display));

	ret->why = BINARY_NO_SYMBOLS;
	if (symtab_count(st) == 0) {
		symtab_free(st);
		return;
	}
	ret->symtab = st;
	ret->file = ef;
	ret->debug = debug;
}

static void read_file(struct search *s, struct binary *ret)
{
	enum elfsym_unit unit = s->header->is_kernel ? ELFSYM_FROM_TEXT : ELFSYM_FILE_OFFSET;

	if (!search_file(s, &ret->why)) {
		if (!s->header->is_kernel)
			(void)search_read_kept(s, &ret->symtab, &ret->kept);
		return;
	}
	s->read_path = xstrdup(elffile_path(s->ef));
	load_symbols(s, STEAL(s->ef), unit, ret);
}

/* A search to repeat later; the header is a copy. */
struct again {
	struct search search;
	struct sfile_header header;
};

static struct symtab *load_again(void *data)
{
	struct again *again = data;
	struct binary b = { .symtab = NULL };

	again->search.header = &again->header;
	/* Images may have been added to the gather, which moves them. */
	again->search.image = &again->search.bs->gather->images[again->search.number];
	again->search.read(&again->search, &b);
	free(again->search.read_path);
	again->search.read_path = NULL;
	return b.symtab;
}

/* Takes the symbols from the cache by @find; false if they are missing. */
static bool take_cached(struct search *s, const char *key, typeof(symcache_find) *find,
			struct binary *ret)
{
	struct again again = { *s, *s->header };
	struct symcache_reload reload = { load_again, xmemdup(&again, sizeof(again)), free };

	ret->symtab = find(s->bs->cache, key, &reload);
	if (!ret->symtab) {
		free(reload.data);
		return false;
	}
	if (!symtab_count(ret->symtab)) {
		binary_close(ret);
		ret->why = BINARY_NO_SYMBOLS;
	}
	return true;
}

static bool open_cached(struct search *s, const char *key, struct binary *ret)
{
	return take_cached(s, key, symcache_find, ret);
}

/* Stores what was read under @key (NULL: not at all). A table is then taken from the cache, where
 * only the symbols that are used take memory. */
static void store(struct search *s, const char *key, struct binary *b)
{
	_cleanup_(symtab_freep) struct symtab *none = symtab_new();
	struct binary cached = { .why = b->why };

	if (!key || (!b->symtab && b->why != BINARY_NO_SYMBOLS))
		return;
	symcache_store(s->bs->cache, key, b->symtab ? b->symtab : none);
	if (!b->symtab || !take_cached(s, key, symcache_stored, &cached))
		return;
	binary_close(b);
	*b = cached;
}

/* Opens an image through the cache under @key (NULL: not cached); returns whether it was found. */
static bool open_by(struct search *s, const char *key, struct binary *ret)
{
	if (key && open_cached(s, key, ret))
		return true;
	s->read(s, ret);
	store(s, key, ret);
	return false;
}

static bool has_build_id(const struct search *s)
{
	return s->image->manifest && s->image->manifest->version.build_id.size;
}

/* Takes the symbols from the cache, for any of the paths where the file may be: it need not exist
 * any more. */
static bool open_any_cached(struct search *s, struct binary *ret)
{
	_cleanup_(search_places_done) struct search_places places = { .count = 0 };
	bool found = false;
	size_t i;

	search_places_init(&places, s);
	for (i = 0; i < places.count && !found; i++) {
		_cleanup_free_ char *key = search_key(s, places.paths[i], NULL);

		found = open_cached(s, key, ret);
	}
	return found;
}

/* Opens a file that its build-id identifies. */
static void open_identified(struct search *s, struct binary *ret)
{
	_cleanup_free_ char *key = NULL;

	if (s->bs->cache && open_any_cached(s, ret))
		return;
	read_file(s, ret);
	key = s->bs->cache && s->read_path ? search_key(s, s->read_path, NULL) : NULL;
	store(s, key, ret);
}

/* Opens a file that its inode identifies. */
static void open_unidentified(struct search *s, struct binary *ret)
{
	struct stat st;
	_cleanup_free_ char *path = s->bs->cache ? search_unopened(s, &st) : NULL;
	_cleanup_free_ char *key = path ? search_key(s, path, &st) : NULL;

	if (open_by(s, key, ret) && path)
		search_check_time(s, path, (uint64_t)st.st_mtime);
}

static void open_file(struct search *s, struct binary *ret)
{
	s->read = read_file;
	s->bs->outcomes[s->number] = OPENED;
	if (has_build_id(s))
		open_identified(s, ret);
	else
		open_unidentified(s, ret);
	free(s->read_path);
}

bool binary_find(struct binaries *bs, uint32_t image, const struct sfile_header *header,
		 struct binary *ret)
{
	struct search s = search_for(bs, image, header);

	*ret = (struct binary){ .why = BINARY_NO_FILE };
	if (s.image->id.kind != SNAME_ROOT || source_image_is(s.image->manifest) ||
	    !search_file(&s, &ret->why))
		return false;
	ret->file = STEAL(s.ef);
	ret->debug = search_debug(&s, ret->file);
	return true;
}

/* The file in the session with a copy of the vdso; NULL if the image is none. */
static const char *vdso_copy(const struct search *s)
{
	const struct sname_image *id = &s->image->id;

	if (id->kind != SNAME_ANON || id->tgid)
		return NULL;
	if (!strcmp(id->name, "[vdso32]"))
		return "vdso32";
	return !strcmp(id->name, "[vdso]") ? "vdso" : NULL;
}

/* The file in the session for what is no file of its own: a copy of the vdso, the functions of a
 * source file, or the JIT code of a process, next to its region or, if the region has no samples,
 * that of call chains. NULL if there can be none; caller frees. */
static char *memory_path(const struct search *s)
{
	const struct gather *g = s->bs->gather;
	const struct gather_file *f = s->image->file ? &g->files[s->image->file - 1] : NULL;
	const char *samples = g->sessions[s->image->session].samples;

	if (vdso_copy(s))
		return path_join(samples, vdso_copy(s));
	if (source_image_is(s->image->manifest))
		return source_image_path(samples, s->image->id.name);
	return f ? gather_code_path(g, f) : session_code_path(samples, s->image->id.tgid);
}

static void read_memory(struct search *s, struct binary *ret)
{
	_cleanup_free_ char *path = memory_path(s);
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	struct error err = ERROR_INIT;
	struct elffile *ef;

	if (!path || access(path, F_OK) < 0)
		return;
	if (elffile_open(path, &ef, &err) < 0) {
		log_warn("%s; its samples are shown without symbols", err.text);
		ret->why = BINARY_UNREADABLE;
		return;
	}
	if (vdso_copy(s)) {
		load_symbols(s, ef, ELFSYM_FILE_OFFSET, ret);
		return;
	}
	st = symtab_new();
	symtab_hold(st, ef, elfsym_release);
	if (!elfsym_load_region(ef, s->image->id.start, st))
		return;
	symtab_settle(st);
	ret->symtab = STEAL(st);
	ret->file = ef;
}

static void open_memory(struct search *s, struct binary *ret)
{
	_cleanup_free_ char *path = memory_path(s);
	_cleanup_free_ char *unit = xasprintf("region %" PRIx64, s->image->id.start);
	_cleanup_free_ char *key = NULL;
	struct stat st;

	if (s->bs->cache && path && stat(path, &st) == 0)
		key = search_key_of_file(&st, vdso_copy(s) ? "file" : unit);
	ret->why = s->image->id.tgid ? BINARY_ANONYMOUS : BINARY_NO_SYMBOLS;
	s->read = read_memory;
	(void)open_by(s, key, ret);
}

/* Opens the kernel or a module; its debug file is found like that of a program. */
static void open_kernel(struct search *s, struct binary *ret)
{
	struct kernel_binary kernel;

	kernel_binaries_open(s->bs->kernels, s->image, &kernel);
	ret->symtab = kernel.symtab;
	ret->file = kernel.file;
	ret->no_code = kernel.no_code;
	if (!ret->file || debugfile_open(ret->file, elffile_path(ret->file), s->roots,
					 s->bs->root_count, &ret->debug) < 0)
		ret->debug = NULL;
	else
		symtab_hold(ret->symtab, ret->debug, elfsym_release);
}

static void open_image(struct binaries *bs, uint32_t image, const struct sfile_header *header,
		       struct binary *ret)
{
	struct search s = search_for(bs, image, header);

	if (bs->reading)
		(void)snprintf(bs->reading, PATH_MAX, "%s", s.image->display);
	*ret = (struct binary){ .why = BINARY_NO_SYMBOLS };
	switch (s.image->id.kind) {
	case SNAME_ROOT:
		if (s.image->kernel)
			open_kernel(&s, ret);
		else if (source_image_is(s.image->manifest))
			open_memory(&s, ret);
		else
			open_file(&s, ret);
		break;
	case SNAME_KERN:
		open_kernel(&s, ret);
		break;
	case SNAME_ANON:
		open_memory(&s, ret);
		break;
	case SNAME_KIND_COUNT_:
		break;
	}
}

void binary_open(struct binaries *bs, uint32_t image, const struct sfile_header *header,
		 struct binary *ret)
{
	const struct binaries *from = bs->kept && bs->kept[image].is_kept ? bs : NULL;
	uint32_t number = image;

	from = from ?: lending_find(bs, image, &number);
	if (from) {
		*ret = from->kept[number];
		return;
	}
	open_image(bs, image, header, ret);
	ret->is_kept = bs->kept;
	if (!bs->kept)
		return;
	bs->kept[image] = *ret;
	lending_note(bs, image);
}

bool binary_offset(const struct binary *b, bool is_kernel, uint64_t address, uint64_t *ret)
{
	const struct symbol *first;

	if (!is_kernel)
		return elffile_offset(b->file, address, ret);
	first = symtab_at(b->symtab, 0);
	*ret = address - first->address + first->offset;
	return true;
}

bool binary_has_code(const struct binary *b, uint64_t offset)
{
	return symtab_find(b->symtab, offset) && b->file && elffile_bytes(b->file, offset, 1);
}

void binary_close(struct binary *b)
{
	if (!b->is_kept)
		symtab_free(b->symtab);
	b->symtab = NULL;
	b->file = b->debug = NULL;
}

bool binary_is_here(struct binaries *bs, uint32_t image, const struct sfile_header *header,
		    bool *ret_lines)
{
	struct search s = search_for(bs, image, header);
	struct elf_section section;
	struct elffile *debug;
	bool found;

	found = search_find(&s);
	free(s.unreadable);
	elffile_close(s.changed);
	*ret_lines = false;
	if (!found)
		return false;
	debug = search_debug(&s, s.ef);
	*ret_lines = elffile_find_section(s.ef, ".debug_info", &section) ||
		     (debug && elffile_find_section(debug, ".debug_info", &section));
	elffile_close(debug);
	elffile_close(s.ef);
	return true;
}
