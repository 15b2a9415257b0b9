/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/binary/internal/search.h"

#include "base/log.h"
#include "base/mem.h"
#include "file/path.h"
#include "elf/debugfile.h"
#include "elf/elffile.h"
#include "elf/filefind.h"
#include "profile/select/gather.h"
#include "sfile/manifest.h"
#include "sfile/session.h"
#include "sfile/sfile.h"
#include "symbol/function_file.h"
#include "symbol/function_store.h"
#include "symbol/symtab.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* Whether it is the profiled inode, without build-id, but was changed since: by as many bytes of
 * another program, perhaps, with the same mtime. A copy is another inode. */
static bool is_rewritten(const struct manifest_image *m, const struct stat *st)
{
	struct file_identity now = file_identity_of(st);

	return !m->version.build_id.size && m->version.ctime_ns && m->file.inode &&
	       file_identity_matches(&now, &m->file) &&
	       file_version_ctime_ns(st) != m->version.ctime_ns;
}

/* Whether the file is the one that was profiled: by build-id if both have one, else by size and
 * modification time as far as they are known. */
static bool is_profiled(const struct search *s, const struct elffile *ef)
{
	const struct manifest_image *m = s->image->manifest;
	const struct build_id *id = elffile_build_id(ef);
	struct stat st;

	if (m && m->version.build_id.size)
		return id && build_id_equal(id, &m->version.build_id);
	if (!m)
		return true; /* only the time can be compared, see search_check_time() */
	if (stat(elffile_path(ef), &st) == 0 && is_rewritten(m, &st))
		return false;
	return (!m->version.size || m->version.size == elffile_size(ef)) &&
	       (!m->version.mtime || m->version.mtime == elffile_mtime(ef));
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
		if (!s->unreadable)
			s->unreadable = xstrdup(err.text);
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

/* The path on the host of a file that its process saw elsewhere, for example in a container. NULL
 * if unknown; caller frees. */
static char *host_path(const struct search *s, const char *root)
{
	const struct manifest_image *m = s->image->manifest;

	return m && m->host && *m->host ? path_under(root, m->host) : NULL;
}

void search_places_init(struct search_places *ret, const struct search *s)
{
	const struct binaries *bs = s->bs;
	const char *fetched = bs->fetched[s->number].file;
	char *host;
	size_t i;

	ret->count = 0;
	for (i = 0; i < bs->root_count; i++) {
		ret->paths[ret->count++] = path_under(s->roots[i], s->path);
		host = host_path(s, s->roots[i]);
		if (host)
			ret->paths[ret->count++] = host;
	}
	if (fetched)
		ret->paths[ret->count++] = xstrdup(fetched);
}

void search_places_done(struct search_places *p)
{
	while (p->count)
		free(p->paths[--p->count]);
}

bool search_find(struct search *s)
{
	_cleanup_(search_places_done) struct search_places places = { .count = 0 };
	const char *found;
	size_t i;

	if (s->is_absent)
		return false;
	search_places_init(&places, s);
	for (i = 0; i < places.count; i++)
		if (try_file(s, places.paths[i]))
			return true;
	for (i = 0; (found = filefind_get(s->bs->found, path_base(s->path), i)); i++)
		if (try_file(s, found))
			return true;
	return false;
}

/* The root directory of the process: @file, as we see it, without @path, as the process saw it.
 * NULL if @file does not end in @path; caller frees. */
static char *own_root(const char *file, const char *path)
{
	size_t length = strlen(file), tail = strlen(path);

	return length > tail && !strcmp(file + length - tail, path) ? xstrndup(file, length - tail)
								    : NULL;
}

/* Looks below the process's own root first: a container's debug files match its programs. */
static int open_debug(const struct search *s, const struct elffile *ef, struct elffile **ret)
{
	_cleanup_free_ char *own = own_root(elffile_path(ef), s->path);
	const char *roots[ROOTS_MAX + 1] = { own };
	size_t count = own ? 1 : 0, i;

	for (i = 0; i < s->bs->root_count; i++)
		if (!own || strcmp(own, s->roots[i]))
			roots[count++] = s->roots[i];
	return debugfile_open(ef, s->path, roots, count, ret);
}

struct elffile *search_debug(const struct search *s, const struct elffile *ef)
{
	const struct binaries *bs = s->bs;
	const char *fetched = bs->fetched[s->number].debug;
	struct elffile *debug;

	if (open_debug(s, ef, &debug) == 0 || debugfile_find(ef, bs->found, &debug) == 0 ||
	    (fetched && debugfile_open_at(ef, fetched, &debug) == 0) ||
	    debugfile_inside(ef, &debug) == 0)
		return debug;
	return NULL;
}

/* Reports the first few in full: after an update of the system there are many. */
static void warn_changed(const struct search *s)
{
	const struct manifest_image *m = s->image->manifest;
	const struct build_id *id = elffile_build_id(s->changed);
	char was[BUILD_ID_TEXT], is[BUILD_ID_TEXT];

	if (s->bs->changed++ >= WARNINGS_MAX)
		return;
	if (m->version.build_id.size)
		log_warn("%s is not the file that was profiled (build-id %s, profiled was %s): its "
			 "samples are shown without symbols; --image-path=DIR finds the old one",
			 elffile_path(s->changed), id ? build_id_text(id, is) : "none",
			 build_id_text(&m->version.build_id, was));
	else if (m->version.size == elffile_size(s->changed) &&
		 m->version.mtime == elffile_mtime(s->changed))
		log_warn("%s has changed since it was profiled (its ctime; size and mtime are the "
			 "same): its samples are shown without symbols; if its contents are the "
			 "same, --image-path=DIR takes a copy",
			 elffile_path(s->changed));
	else
		log_warn("%s has changed since it was profiled (size %" PRIu64 ", mtime %" PRIu64
			 "; profiled was %" PRIu64 ", %" PRIu64
			 "): its samples are shown without symbols",
			 elffile_path(s->changed), elffile_size(s->changed),
			 elffile_mtime(s->changed), m->version.size, m->version.mtime);
}

void search_check_time(const struct search *s, const char *path, uint64_t mtime)
{
	uint64_t profiled = s->header->mtime;

	if (s->image->manifest || !profiled || profiled == mtime)
		return;
	log_warn("%s was modified after it was profiled, or is another file (mtime %" PRIu64
		 ", profiled was %" PRIu64 "): its symbols may be wrong",
		 path, mtime, profiled);
}

struct search search_for(struct binaries *bs, uint32_t image, const struct sfile_header *header)
{
	const struct gather_image *i = &bs->gather->images[image];
	const char *archive = bs->gather->sessions[i->session].archive;
	struct search s = {
		.bs = bs, .number = image, .image = i, .header = header, .path = i->display
	};

	memcpy(s.roots, bs->roots, sizeof(s.roots));
	if (archive)
		s.roots[0] = archive;
	return s;
}

char *search_kept(const struct search *s)
{
	const struct manifest_image *m = s->image->manifest;
	_cleanup_free_ char *symbols = NULL, *path = NULL;
	char key[FUNCTION_KEY];

	if (!m || !function_key(&m->file, &m->version, key))
		return NULL;
	symbols = session_symbols(s->bs->gather->sessions[s->image->session].samples);
	path = path_join(symbols, key);
	return access(path, F_OK) == 0 ? STEAL(path) : NULL;
}

bool search_read_kept(const struct search *s, struct symtab **ret, const char **ret_path)
{
	_cleanup_free_ char *path = search_kept(s);
	const char *name = path_base(s->image->display);
	struct error err = ERROR_INIT;

	if (!path)
		return false;
	if (function_file_read(path, name, ret, &err) < 0) {
		log_warn("%s; samples of %s are shown without symbols", err.text, name);
		return false;
	}
	s->bs->outcomes[s->number] = GONE;
	*ret_path = path;
	symtab_hold(*ret, STEAL(path), free);
	return true;
}

bool search_file(struct search *s, enum binary_why *ret)
{
	bool found = search_find(s);
	_cleanup_free_ char *kept = found ? NULL : search_kept(s);

	if (found) {
		search_check_time(s, elffile_path(s->ef), elffile_mtime(s->ef));
	} else if (s->changed) {
		if (!kept)
			warn_changed(s);
		*ret = BINARY_CHANGED;
	} else {
		if (s->unreadable && !kept)
			log_warn("%s; its samples are shown without symbols", s->unreadable);
		*ret = s->unreadable ? BINARY_UNREADABLE : BINARY_NO_FILE;
	}
	free(s->unreadable);
	s->unreadable = NULL;
	elffile_close(s->changed);
	return found;
}

/* Returns whether a file can be the profiled one. */
static bool may_be(const struct manifest_image *m, const struct stat *st)
{
	return S_ISREG(st->st_mode) &&
	       (!m || ((!m->version.size || m->version.size == (uint64_t)st->st_size) &&
		       (!m->version.mtime || m->version.mtime == (uint64_t)st->st_mtime) &&
		       !is_rewritten(m, st)));
}

char *search_unopened(struct search *s, struct stat *ret)
{
	_cleanup_(search_places_done) struct search_places places = { .count = 0 };
	bool is_any = filefind_get(s->bs->found, path_base(s->path), 0);
	size_t i;

	search_places_init(&places, s);
	for (i = 0; i < places.count; i++) {
		bool exists = stat(places.paths[i], ret) == 0;

		if (exists && may_be(s->image->manifest, ret))
			return STEAL(places.paths[i]);
		is_any |= exists;
	}
	s->is_absent = !is_any;
	return NULL;
}

bool search_has_debug(const struct search *s, const struct build_id *id)
{
	_cleanup_free_ char *host = host_path(s, s->roots[0]);
	_cleanup_free_ char *own = host ? own_root(host, s->path) : NULL;
	const char *const roots[] = { own };

	return debugfile_installed(id, s->roots, s->bs->root_count) ||
	       (own && debugfile_installed(id, roots, 1));
}

/* --- keys of the cache --- */

char *search_key_of_file(const struct stat *st, const char *unit)
{
	return xasprintf("inode %ju:%ju %ju %jd.%09ld %jd.%09ld %s", (uintmax_t)st->st_dev,
			 (uintmax_t)st->st_ino, (uintmax_t)st->st_size, (intmax_t)st->st_mtime,
			 st->st_mtim.tv_nsec, (intmax_t)st->st_ctime, st->st_ctim.tv_nsec, unit);
}

char *search_key(const struct search *s, const char *path, const struct stat *st)
{
	const struct manifest_image *m = s->image->manifest;
	const char *unit = s->header->is_kernel ? "text" : "file";
	_cleanup_free_ char *whole = path_absolute(path);
	_cleanup_free_ char *file = NULL;
	char id[BUILD_ID_TEXT];

	/* A debug file installed later would make a better table. */
	if (!st)
		return xasprintf("build-id %s %s%s%s %s", build_id_text(&m->version.build_id, id),
				 unit, search_has_debug(s, &m->version.build_id) ? " debug" : "",
				 s->bs->fetched[s->number].debug ? " fetched" : "", whole);
	file = search_key_of_file(st, unit);
	return xasprintf("%s %s", file, whole);
}
