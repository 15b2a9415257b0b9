/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/binary/binary.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/path.h"
#include "elf/debugfile.h"
#include "symbol/elfcode.h"
#include "symbol/elfsym.h"
#include "elf/filefind.h"
#include "symbol/symcache.h"
#include "profile/select/gather.h"
#include "profile/binary/internal/kernel_binaries.h"
#include "sfile/manifest.h"
#include "sfile/sfile.h"

#include <inttypes.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { ROOTS_MAX = 16, WARNINGS_MAX = 3 };

/* Paths of what was downloaded for an image, each NULL where nothing was. */
struct fetched {
	char *file, *debug;
};

struct binaries {
	const struct gather *gather;
	const char *root;
	/* Where debug files are looked for: the root, then the image paths, which may be roots. */
	const char *roots[ROOTS_MAX];
	size_t root_count;
	char *root_copies[ROOTS_MAX];
	struct filefind *found; /* files below the image paths, by name */
	struct kernel_binaries *kernels;
	struct binary *kept;	 /* one per image; NULL: none is kept */
	struct symcache *cache;	 /* NULL: symbols come from the files */
	struct fetched *fetched; /* one per image, ->image_count of them */
	size_t image_count;	 /* of the gather when this was made */
	size_t opened;
	size_t changed; /* images whose file is another one now */
};

/* One image on its way to its symbols. */
struct search {
	struct binaries *bs;
	const struct gather_image *image;
	const struct sfile_header *header;
	const char *path;	 /* in the profiled system */
	struct elffile *ef;	 /* the file that was taken */
	struct elffile *changed; /* one that was found but is not the right one */
	bool unreadable;	 /* one was found but could not be opened */
	bool quiet;		 /* nothing is warned of */
	void (*read)(struct search *s, struct binary *ret); /* its symbols, out of the file */
};

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
	/* What lies in the image paths can make a better table, and change at any time. */
	bs->cache = config->symbols_only && !config->image_paths ? config->cache : NULL;
	bs->kernels = kernel_binaries_new(
		g, &(struct kernel_binaries_config){ .root = bs->root,
						     .found = bs->found,
						     .cache = config->cache,
						     .code = config->code,
						     .vmlinux = config->vmlinux });
	bs->image_count = g->image_count;
	bs->fetched = xcalloc(g->image_count + 1, sizeof(*bs->fetched));
	if (config->keep)
		bs->kept = xcalloc(g->image_count + 1, sizeof(*bs->kept));
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
	for (i = 0; i < bs->image_count; i++) {
		free(bs->fetched[i].file);
		free(bs->fetched[i].debug);
	}
	free(bs->fetched);
	for (i = 0; i < ROOTS_MAX; i++)
		free(bs->root_copies[i]);
	filefind_free(bs->found);
	kernel_binaries_free(bs->kernels);
	free(bs);
}

size_t binaries_opened(const struct binaries *bs)
{
	return bs->opened;
}

/* Whether the file is the one that was profiled: by build-id if both have one, else by size and
 * modification time as far as they are known. */
static bool is_profiled(const struct search *s, const struct elffile *ef)
{
	const struct manifest_image *m = s->image->manifest;
	const struct build_id *id = elffile_build_id(ef);

	if (m && m->build_id.size)
		return id && build_id_equal(id, &m->build_id);
	if (!m)
		return true; /* nothing to hold it against but the time, see check_time() */
	return (!m->size || m->size == elffile_size(ef)) &&
	       (!m->mtime || m->mtime == elffile_mtime(ef));
}

/* Tries one file; true if it is the right one, which is then s->ef. */
static bool try_file(struct search *s, const char *path)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	struct error err = ERROR_INIT;

	if (access(path, F_OK) < 0)
		return false;
	s->bs->opened++;
	if (elffile_open(path, &ef, &err) < 0) {
		if (!s->quiet)
			log_warn("%s; its samples are shown without symbols", err.text);
		s->unreadable = true;
		return false;
	}
	if (is_profiled(s, ef)) {
		s->ef = STEAL(ef);
		return true;
	}
	if (!s->changed)
		s->changed = STEAL(ef);
	return false;
}

/* The number of the image that is looked for. */
static uint32_t number_of(const struct search *s)
{
	return (uint32_t)(s->image - s->bs->gather->images);
}

/* Where the host had a file that its process saw elsewhere: in a container, say. NULL if it is not
 * known to have been anywhere else; caller frees. */
static char *host_path(const struct search *s, const char *root)
{
	const struct manifest_image *m = s->image->manifest;

	return m && m->host && *m->host ? path_under(root, m->host) : NULL;
}

/* Looks for the file in every place that there is: below each root at its paths, then anywhere in
 * the image paths by its name, then among what was fetched. */
static bool find_file(struct search *s)
{
	const struct binaries *bs = s->bs;
	const char *found;
	size_t i;

	for (i = 0; i < bs->root_count; i++) {
		_cleanup_free_ char *path = path_under(bs->roots[i], s->path);
		_cleanup_free_ char *host = host_path(s, bs->roots[i]);

		if (try_file(s, path) || (host && try_file(s, host)))
			return true;
	}
	for (i = 0; (found = filefind_get(bs->found, path_base(s->path), i)); i++)
		if (try_file(s, found))
			return true;
	found = bs->fetched[number_of(s)].file;
	return found && try_file(s, found);
}

/* The root that the process had, out of where its file lies for us: what stands before its path
 * there. NULL if the file lies otherwise; caller frees. */
static char *own_root(const char *file, const char *path)
{
	size_t length = strlen(file), tail = strlen(path);

	return length > tail && !strcmp(file + length - tail, path) ? xstrndup(file, length - tail)
								    : NULL;
}

/* Looks below the process's own root first: what a container has was made for what it runs. */
static int open_debug(const struct search *s, const struct elffile *ef, struct elffile **ret)
{
	_cleanup_free_ char *own = own_root(elffile_path(ef), s->path);
	const char *roots[ROOTS_MAX + 1] = { own };
	size_t count = own ? 1 : 0, i;

	for (i = 0; i < s->bs->root_count; i++)
		if (!own || strcmp(own, s->bs->roots[i]))
			roots[count++] = s->bs->roots[i];
	return debugfile_open(ef, s->path, roots, count, ret);
}

/* The debug file of the image: one of this machine, else what was fetched, else the symbols that
 * the file has inside; NULL where there is none. Caller closes. */
static struct elffile *find_debug(const struct search *s, const struct elffile *ef)
{
	const struct binaries *bs = s->bs;
	const char *fetched = bs->fetched[number_of(s)].debug;
	struct elffile *debug;

	if (open_debug(s, ef, &debug) == 0 || debugfile_find(ef, bs->found, &debug) == 0 ||
	    (fetched && debugfile_open_at(ef, fetched, &debug) == 0) ||
	    debugfile_inside(ef, &debug) == 0)
		return debug;
	return NULL;
}

/* The first few in full: after an update of the system there are many. */
static void warn_changed(const struct search *s)
{
	const struct manifest_image *m = s->image->manifest;
	const struct build_id *id = elffile_build_id(s->changed);
	char was[BUILD_ID_TEXT], is[BUILD_ID_TEXT];

	if (s->bs->changed++ >= WARNINGS_MAX)
		return;
	if (m->build_id.size)
		log_warn("%s is not the file that was profiled (build-id %s, profiled was %s): its "
			 "samples are shown without symbols; --image-path=DIR can name the old one",
			 elffile_path(s->changed), id ? build_id_text(id, is) : "none",
			 build_id_text(&m->build_id, was));
	else
		log_warn("%s has changed since it was profiled (size %" PRIu64 ", mtime %" PRIu64
			 "; profiled was %" PRIu64 ", %" PRIu64
			 "): its samples are shown without symbols",
			 elffile_path(s->changed), elffile_size(s->changed),
			 elffile_mtime(s->changed), m->size, m->mtime);
}

/* Sessions of the original have no manifest: only the time in the sample file's header tells. */
static void check_time(const struct search *s, const char *path, uint64_t mtime)
{
	uint64_t profiled = s->header->mtime;

	if (s->image->manifest || !profiled || profiled == mtime)
		return;
	log_warn("%s was modified after it was profiled, or is another file (mtime %" PRIu64
		 ", profiled was %" PRIu64 "): its symbols may be wrong",
		 path, mtime, profiled);
}

/* Symbols of an opened file, which the table then holds; its debug file too, if there is one. */
static void load_symbols(const struct search *s, struct elffile *ef, enum elfsym_unit unit,
			 struct binary *ret)
{
	struct symtab *st = symtab_new();
	struct elffile *debug = find_debug(s, ef);

	if (debug)
		symtab_hold(st, debug, elfsym_release);
	symtab_hold(st, ef, elfsym_release);
	(void)elfsym_load(ef, debug, unit, st);
	if (unit == ELFSYM_FILE_OFFSET)
		elfsym_load_plt(ef, st);
	symtab_settle(st);
	if (unit == ELFSYM_FILE_OFFSET)
		(void)elfcode_fill(ef, path_base(s->image->display), st);
	ret->why = BINARY_NO_SYMBOLS;
	if (symtab_count(st) == 0) {
		symtab_free(st);
		return;
	}
	ret->symtab = st;
	ret->file = ef;
	ret->debug = debug;
}

static struct search search_for(struct binaries *bs, uint32_t image,
				const struct sfile_header *header)
{
	const struct gather_image *i = &bs->gather->images[image];

	return (struct search){ .bs = bs, .image = i, .header = header, .path = i->display };
}

/* Finds the file and says why there is none. */
static bool search_file(struct search *s, struct binary *ret)
{
	bool found;

	found = find_file(s);
	if (found) {
		check_time(s, elffile_path(s->ef), elffile_mtime(s->ef));
	} else if (s->changed) {
		warn_changed(s);
		ret->why = BINARY_CHANGED;
	} else {
		ret->why = s->unreadable ? BINARY_UNREADABLE : BINARY_NO_FILE;
	}
	elffile_close(s->changed);
	return found;
}

static void read_file(struct search *s, struct binary *ret)
{
	enum elfsym_unit unit = s->header->is_kernel ? ELFSYM_FROM_TEXT : ELFSYM_FILE_OFFSET;

	if (search_file(s, ret))
		load_symbols(s, STEAL(s->ef), unit, ret);
}

/* Whether what is at @path can be the profiled file. */
static bool may_be(const struct manifest_image *m, const char *path, struct stat *ret)
{
	return stat(path, ret) == 0 && S_ISREG(ret->st_mode) &&
	       (!m || ((!m->size || m->size == (uint64_t)ret->st_size) &&
		       (!m->mtime || m->mtime == (uint64_t)ret->st_mtime)));
}

/* The first file that can be the profiled one by what the file system says of it, or NULL. */
static char *find_unopened(const struct search *s, struct stat *ret)
{
	const struct manifest_image *m = s->image->manifest;
	const struct binaries *bs = s->bs;
	size_t i;

	for (i = 0; i < bs->root_count; i++) {
		char *path = path_under(bs->roots[i], s->image->display);
		char *host = host_path(s, bs->roots[i]);

		if (may_be(m, path, ret)) {
			free(host);
			return path;
		}
		free(path);
		if (host && may_be(m, host, ret))
			return host;
		free(host);
	}
	return NULL;
}

/* Whether a debug file of that build-id is where one is looked for. */
static bool has_debug(const struct search *s, const struct build_id *id)
{
	_cleanup_free_ char *host = host_path(s, s->bs->root);
	_cleanup_free_ char *own = host ? own_root(host, s->path) : NULL;
	const char *const roots[] = { own };

	return debugfile_installed(id, s->bs->roots, s->bs->root_count) ||
	       (own && debugfile_installed(id, roots, 1));
}

/* A key for what @unit counts the symbols of a file from, where only the file system tells it from
 * others; caller frees. */
static char *key_of_file(const struct stat *st, const char *unit)
{
	return xasprintf("inode %ju:%ju %ju %jd.%09ld %jd.%09ld %s", (uintmax_t)st->st_dev,
			 (uintmax_t)st->st_ino, (uintmax_t)st->st_size, (intmax_t)st->st_mtime,
			 st->st_mtim.tv_nsec, (intmax_t)st->st_ctime, st->st_ctim.tv_nsec, unit);
}

/* What the image's symbols are cached under; caller frees. NULL where nothing tells it from others
 * without opening it. *ret_path is the file that it is about if it was looked for, modified at
 * *ret_mtime; caller frees. */
static char *cache_key(const struct search *s, char **ret_path, uint64_t *ret_mtime)
{
	const struct manifest_image *m = s->image->manifest;
	const char *unit = s->header->is_kernel ? "text" : "file";
	char id[BUILD_ID_TEXT];
	struct stat st;

	/* A debug file that comes later makes a better table. */
	if (m && m->build_id.size)
		return xasprintf("build-id %s %s%s%s", build_id_text(&m->build_id, id), unit,
				 has_debug(s, &m->build_id) ? " debug" : "",
				 s->bs->fetched[number_of(s)].debug ? " fetched" : "");
	*ret_path = find_unopened(s, &st);
	if (!*ret_path)
		return NULL;
	*ret_mtime = (uint64_t)st.st_mtime;
	return key_of_file(&st, unit);
}

/* A search to be made again; the header is a copy. */
struct again {
	struct search search;
	struct sfile_header header;
};

static struct symtab *load_again(void *data)
{
	struct again *again = data;
	struct binary b = { .symtab = NULL };

	again->search.header = &again->header;
	again->search.read(&again->search, &b);
	return b.symtab;
}

/* Takes the symbols from the cache; false if they are not there. */
static bool open_cached(struct search *s, const char *key, struct binary *ret)
{
	struct again again = { *s, *s->header };
	struct symcache_reload reload = { load_again, xmemdup(&again, sizeof(again)), free };

	ret->symtab = symcache_find(s->bs->cache, key, &reload);
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

/* Opens an image by way of the cache, where it has @key (NULL: none); whether it was there. */
static bool open_by(struct search *s, const char *key, struct binary *ret)
{
	if (key && open_cached(s, key, ret))
		return true;
	s->read(s, ret);
	if (key && (ret->symtab || ret->why == BINARY_NO_SYMBOLS)) {
		_cleanup_(symtab_freep) struct symtab *none = symtab_new();

		symcache_store(s->bs->cache, key, ret->symtab ? ret->symtab : none);
	}
	return false;
}

static void open_file(struct search *s, struct binary *ret)
{
	_cleanup_free_ char *path = NULL;
	uint64_t mtime = 0;
	_cleanup_free_ char *key = s->bs->cache ? cache_key(s, &path, &mtime) : NULL;

	s->read = read_file;
	if (open_by(s, key, ret) && path)
		check_time(s, path, mtime);
}

bool binary_find(struct binaries *bs, uint32_t image, const struct sfile_header *header,
		 struct binary *ret)
{
	struct search s = search_for(bs, image, header);

	*ret = (struct binary){ .why = BINARY_NO_FILE };
	if (s.image->id.kind != SNAME_ROOT || !search_file(&s, ret))
		return false;
	ret->file = STEAL(s.ef);
	ret->debug = find_debug(&s, ret->file);
	return true;
}

/* A file of the gather with samples of image number @image. */
static const struct gather_file *file_of(const struct gather *g, const struct gather_image *image)
{
	size_t i;

	for (i = 0; i < g->file_count; i++)
		if (&g->images[g->files[i].image] == image && g->files[i].callee == GATHER_NONE)
			return &g->files[i];
	return NULL;
}

static bool is_vdso(const struct search *s)
{
	return !strcmp(s->image->id.name, "[vdso]");
}

/* Memory of processes has no file but what the session keeps: a copy of the vdso, and beside a
 * region the code that was made there at run time. NULL if there can be none; caller frees. */
static char *memory_path(const struct search *s)
{
	const struct gather *g = s->bs->gather;
	const struct gather_file *f = file_of(g, s->image);

	if (is_vdso(s))
		return path_join(g->sessions[s->image->session].samples, "vdso");
	return f ? gather_code_path(g, f) : NULL;
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
	if (is_vdso(s)) {
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
		key = key_of_file(&st, is_vdso(s) ? "file" : unit);
	ret->why = is_vdso(s) ? BINARY_NO_SYMBOLS : BINARY_ANONYMOUS;
	s->read = read_memory;
	(void)open_by(s, key, ret);
}

/* Kernel and modules; their debug files are found as those of programs. */
static void open_kernel(struct search *s, struct binary *ret)
{
	struct binaries *bs = s->bs;
	struct kernel_binary kernel;

	kernel_binaries_open(bs->kernels, s->image, &kernel);
	ret->symtab = kernel.symtab;
	ret->file = kernel.file;
	ret->no_code = kernel.no_code;
	if (!ret->file || debugfile_open(ret->file, elffile_path(ret->file), bs->roots,
					 bs->root_count, &ret->debug) < 0)
		ret->debug = NULL;
	else
		symtab_hold(ret->symtab, ret->debug, elfsym_release);
}

static void open_image(struct binaries *bs, uint32_t image, const struct sfile_header *header,
		       struct binary *ret)
{
	struct search s = search_for(bs, image, header);

	*ret = (struct binary){ .why = BINARY_NO_SYMBOLS };
	switch (s.image->id.kind) {
	case SNAME_ROOT:
		if (!strcmp(s.image->display, "/proc/kallsyms"))
			open_kernel(&s, ret);
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
	if (bs->kept && bs->kept[image].is_kept) {
		*ret = bs->kept[image];
		return;
	}
	open_image(bs, image, header, ret);
	ret->is_kept = bs->kept;
	if (bs->kept)
		bs->kept[image] = *ret;
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

	s.quiet = true;
	found = find_file(&s);
	elffile_close(s.changed);
	*ret_lines = false;
	if (!found)
		return false;
	debug = find_debug(&s, s.ef);
	*ret_lines = elffile_find_section(s.ef, ".debug_info", &section) ||
		     (debug && elffile_find_section(debug, ".debug_info", &section));
	elffile_close(debug);
	elffile_close(s.ef);
	return true;
}
