/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/history_source.h"

#include "base/log.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/dirtree.h"
#include "file/path.h"
#include "history/history_kind.h"
#include "history/levels.h"
#include "history/segment.h"
#include "history/slice_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char sum_mark[] = "sum.";

static int open_directory(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Warns that something in the directory @dir is not listed; what has vanished is not worth it. */
static void warn_missing(const char *dir)
{
	if (errno != ENOENT)
		log_warn("%s: %s; a part of its history is missing", dir, strerror(errno));
}

static DIR *open_list(const char *dir)
{
	int fd = open_directory(dir);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		warn_missing(dir);
		cleanup_closep(&fd);
	}
	return d;
}

/* The next entry; NULL if there is none, or reading fails. */
static struct dirent *next_entry(DIR *d, const char *dir)
{
	struct dirent *entry;

	errno = 0;
	entry = readdir(d);
	if (!entry && errno)
		warn_missing(dir);
	return entry;
}

/* Parses a number, and moves past it. */
static bool parse_number(const char **at, uint32_t *ret)
{
	uint64_t number;

	if (parse_dec(at, &number) < 0 || number >= UINT32_MAX)
		return false;
	*ret = (uint32_t)number;
	return true;
}

/* Whether @name is that of the file @f of a generation. */
static bool is_file(const char *name, const struct history_kind_file *f, uint32_t *ret)
{
	if (!f->before || strncmp(name, f->before, strlen(f->before)) != 0)
		return false;
	name += strlen(f->before);
	return parse_number(&name, ret) && !strcmp(name, f->after);
}

/* Parses the name of a file; false if it is not that of a source. */
static bool parse_name(const char *at, const struct history_kind *kind, struct history_source *ret)
{
	*ret = (struct history_source){ .kind = kind };
	if (strncmp(at, kind->mark, strlen(kind->mark)) != 0) {
		if (!is_file(at, &kind->files[0], &ret->first))
			return false;
		ret->last = ret->first;
		return true;
	}
	at += strlen(kind->mark);
	ret->is_segment = true;
	return parse_number(&at, &ret->level) && (ret->level || kind->packs) &&
	       ret->level < HISTORY_LEVELS && *at++ == '.' && parse_number(&at, &ret->first) &&
	       *at++ == '-' && parse_number(&at, &ret->last) && !*at && ret->first <= ret->last;
}

static int compare(const void *pa, const void *pb)
{
	const struct history_source *a = pa, *b = pb;

	if (a->level != b->level)
		return a->level < b->level ? -1 : 1;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return b->is_segment - a->is_segment;
}

/* Notes which sources are in other segments. */
static void find_rolled(struct history_source *list, size_t count)
{
	size_t i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < count; k++) {
			struct history_source *s = &list[i];

			if (!list[k].is_segment || s->first < list[k].first ||
			    list[k].last < s->last)
				continue;
			s->is_rolled |= list[k].level > s->level;
			s->is_packed |= !s->is_segment && !list[k].level;
		}
}

static char *file_path(const char *dir, const struct history_kind_file *f, uint32_t generation)
{
	return xasprintf("%s/%s%" PRIu32 "%s", dir, f->before, generation, f->after);
}

/* Finds how large a generation is, and when it was written last. */
static void measure(const char *dir, struct history_source *s)
{
	struct stat st;
	size_t i;

	for (i = 0; i < HISTORY_KIND_FILES && s->kind->files[i].before; i++) {
		_cleanup_free_ char *path = file_path(dir, &s->kind->files[i], s->first);

		if (lstat(path, &st) < 0)
			continue;
		s->bytes += (uint64_t)st.st_size;
		if (i == 0 || i == s->kind->clock)
			s->written_s = st.st_mtim.tv_sec;
	}
}

struct history_source *sources_list(const char *dir, const struct history_kind *kind,
				    size_t *ret_count)
{
	DIR *d = open_list(dir);
	struct history_source *list = NULL, s;
	size_t count = 0, room = 0;
	struct dirent *entry;

	while (d && (entry = next_entry(d, dir))) {
		struct stat st;

		if (!parse_name(entry->d_name, kind, &s))
			continue;
		if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			warn_missing(dir);
			continue;
		}
		s.written_s = st.st_mtim.tv_sec;
		s.bytes = s.is_segment ? (uint64_t)st.st_size : 0;
		if (!s.is_segment)
			measure(dir, &s);
		array_grow(&list, count + 1, &room);
		list[count++] = s;
	}
	if (d)
		(void)closedir(d);
	if (count)
		qsort(list, count, sizeof(*list), compare);
	find_rolled(list, count);
	*ret_count = count;
	return list;
}

char *source_path(const char *dir, const struct history_source *s)
{
	return s->is_segment ? xasprintf("%s/%s%" PRIu32 ".%" PRIu32 "-%" PRIu32, dir,
					 s->kind->mark, s->level, s->first, s->last)
			     : file_path(dir, &s->kind->files[0], s->first);
}

int source_span(const char *dir, const struct history_source *s, struct window *ret)
{
	_cleanup_free_ char *path = s->is_segment ? source_path(dir, s) : NULL;
	_cleanup_(segment_freep) struct segment *segment = NULL;
	int r;

	if (!s->is_segment) {
		path = file_path(dir, &s->kind->files[s->kind->clock], s->first);
		return slices_span(path, ret);
	}
	r = segment_open(path, &segment, NULL);
	if (r < 0)
		return r;
	*ret = segment_about(segment)->span;
	return segment_about(segment)->slices ? 0 : -ENODATA;
}

/* --- long windows --- */

/* How long a window is, or the part of it that there can be anything of. */
static int64_t length_of(const struct history_source *list, size_t count, const struct window *w)
{
	int64_t begin_ms = INT64_MAX, end_ms = INT64_MIN;
	size_t i;

	for (i = 0; i < count; i++) {
		int64_t written_ms = list[i].written_s * 1000,
			span_ms = history_level(MAX(list[i].level, 1U))->span_ms;

		begin_ms = MIN(begin_ms, written_ms - span_ms);
		end_ms = MAX(end_ms, written_ms);
	}
	begin_ms = MAX(begin_ms, w->begin_ms);
	end_ms = MIN(end_ms, w->end_ms);
	return begin_ms < end_ms ? end_ms - begin_ms : 0;
}

unsigned int sources_level(const struct history_source *list, size_t count, const struct window *w)
{
	const int64_t length_ms = length_of(list, count, w);
	unsigned int level = HISTORY_LEVELS - 1;

	while (level && history_level(level)->span_ms > length_ms / SOURCES_SPAN_PARTS)
		level--;
	return level;
}

struct history_source *sources_inside(const char *dir, const struct history_source *list,
				      size_t count, unsigned int level, const struct window *w,
				      size_t *ret_count)
{
	struct history_source *inside = xcalloc(count + 1, sizeof(*inside));
	struct window span;
	size_t n = 0, i;

	for (i = 0; i < count; i++)
		if (list[i].is_segment && list[i].level == level &&
		    source_span(dir, &list[i], &span) == 0 && w->begin_ms <= span.begin_ms &&
		    span.end_ms <= w->end_ms)
			inside[n++] = list[i];
	*ret_count = n;
	return inside;
}

/* --- sums --- */

/* Whether the file @name is a sum, and of the generations up to which. */
static bool parse_sum(const char *name, uint32_t *ret)
{
	return is_file(name, &(struct history_kind_file){ sum_mark, "" }, ret);
}

/* Calls @each with the last generation of each sum in @dir. */
static void each_sum(const char *dir, void (*each)(int fd, const char *name, uint32_t last, void *),
		     void *data)
{
	DIR *d = open_list(dir);
	struct dirent *entry;
	uint32_t last;

	while (d && (entry = next_entry(d, dir)))
		if (parse_sum(entry->d_name, &last))
			each(dirfd(d), entry->d_name, last, data);
	if (d)
		(void)closedir(d);
}

struct found {
	bool any;
	uint32_t last;
};

static void find_last(int fd _unused_, const char *name _unused_, uint32_t last, void *data)
{
	struct found *f = data;

	f->last = f->any ? MAX(f->last, last) : last;
	f->any = true;
}

bool sources_sum(const char *dir, uint32_t *ret_last)
{
	struct found f = { 0 };

	each_sum(dir, find_last, &f);
	if (f.any)
		*ret_last = f.last;
	return f.any;
}

char *source_sum_path(const char *dir, uint32_t last)
{
	return file_path(dir, &(struct history_kind_file){ sum_mark, "" }, last);
}

static void remove_older(int fd, const char *name, uint32_t last, void *data)
{
	if (last < *(const uint32_t *)data)
		(void)dirtree_remove(fd, name, NULL);
}

void sources_remove_sums(const char *dir)
{
	uint32_t last;

	if (sources_sum(dir, &last))
		each_sum(dir, remove_older, &last);
}

/* --- generations --- */

uint32_t sources_next(const char *dir, const struct history_kind *kind)
{
	size_t count, i;
	_cleanup_free_ struct history_source *list = sources_list(dir, kind, &count);
	uint32_t last, next = kind->to_sum && sources_sum(dir, &last) ? last + 1 : 0;

	for (i = 0; i < count; i++)
		next = MAX(next, list[i].last + 1);
	return next;
}

void source_remove(const char *dir, const struct history_source *s)
{
	_cleanup_close_ int fd = open_directory(dir);
	_cleanup_free_ char *path = source_path(dir, s);
	size_t i;

	/* The first file first: without it the generation does not exist. */
	(void)dirtree_remove(fd, path_base(path), NULL);
	for (i = 1; !s->is_segment && i < HISTORY_KIND_FILES && s->kind->files[i].before; i++) {
		_cleanup_free_ char *other = file_path(dir, &s->kind->files[i], s->first);

		(void)dirtree_remove(fd, path_base(other), NULL);
	}
}

/* Whether @entry is a file of a generation before @live, but not its first one. */
static bool is_further(const char *entry, const struct history_kind *kind, uint32_t live,
		       uint32_t *ret)
{
	size_t i;

	for (i = 1; i < HISTORY_KIND_FILES; i++)
		if (is_file(entry, &kind->files[i], ret))
			return *ret < live;
	return false;
}

void sources_tidy(const char *dir, const struct history_kind *kind, uint32_t live)
{
	_cleanup_close_ int fd = open_directory(dir), own = -1;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	uint32_t number;

	own = d ? dup(fd) : -1;
	while (d && (entry = readdir(d))) {
		_cleanup_free_ char *first = NULL;
		struct stat st;

		if (!is_further(entry->d_name, kind, live, &number))
			continue;
		first = file_path(dir, &kind->files[0], number);
		if (lstat(first, &st) < 0 && errno == ENOENT)
			(void)dirtree_remove(own, entry->d_name, NULL);
	}
	if (d) {
		(void)closedir(d);
		fd = -1;
	}
}
