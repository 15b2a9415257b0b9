/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/history_source.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "file/dirtree.h"
#include "file/path.h"
#include "history/history_kind.h"
#include "history/levels.h"
#include "history/segment.h"
#include "history/slice_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char sum_mark[] = "sum.";

/* Opens the directory @dir and lists its names. A descriptor, caller closes, or -errno: -ENOENT,
 * which is no error here, if there is none. */
static int open_list(const char *dir, struct strbuf *names, struct error *err)
{
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = fd < 0 ? -errno : dirtree_names(fd, names);

	if (r == -ENOENT)
		return r;
	return r < 0 ? error_errno(err, r, "%s", dir) : STEAL_FD(fd);
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

char *source_path(const char *dir, const struct history_source *s)
{
	return s->is_segment ? xasprintf("%s/%s%" PRIu32 ".%" PRIu32 "-%" PRIu32, dir,
					 s->kind->mark, s->level, s->first, s->last)
			     : file_path(dir, &s->kind->files[0], s->first);
}

/* Finds how large a generation is, and when it was written last. 0 or -errno. */
static int measure(int fd, const char *dir, struct history_source *s, struct error *err)
{
	struct stat st;
	size_t i;

	for (i = 0; i < HISTORY_KIND_FILES && s->kind->files[i].before; i++) {
		_cleanup_free_ char *path = file_path(dir, &s->kind->files[i], s->first);

		if (fstatat(fd, path_base(path), &st, AT_SYMLINK_NOFOLLOW) < 0) {
			if (errno == ENOENT)
				continue;
			return error_errno(err, -errno, "%s", path);
		}
		s->bytes += (uint64_t)st.st_size;
		if (i == 0 || i == s->kind->clock)
			s->written_s = st.st_mtim.tv_sec;
	}
	return 0;
}

/* As measure(), for a segment; -ENOENT if it has vanished. */
static int measure_segment(int fd, const char *dir, struct history_source *s, struct error *err)
{
	_cleanup_free_ char *path = source_path(dir, s);
	struct stat st;

	if (fstatat(fd, path_base(path), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? -ENOENT : error_errno(err, -errno, "%s", path);
	s->written_s = st.st_mtim.tv_sec;
	s->bytes = (uint64_t)st.st_size;
	return 0;
}

int sources_list(const char *dir, const struct history_kind *kind, struct history_source **ret,
		 size_t *ret_count, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	_cleanup_close_ int fd = open_list(dir, &names, err);
	_cleanup_free_ struct history_source *list = NULL;
	size_t count = 0, room = 0, at = 0;
	struct history_source s;
	const char *name;

	if (fd < 0 && fd != -ENOENT)
		return fd;
	while ((name = dirtree_next_name(&names, &at))) {
		int r;

		if (!parse_name(name, kind, &s))
			continue;
		r = s.is_segment ? measure_segment(fd, dir, &s, err) : measure(fd, dir, &s, err);
		if (r == -ENOENT)
			continue;
		if (r < 0)
			return r;
		array_grow(&list, count + 1, &room);
		list[count++] = s;
	}
	if (count)
		qsort(list, count, sizeof(*list), compare);
	find_rolled(list, count);
	*ret = STEAL(list);
	*ret_count = count;
	return 0;
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

static bool has_instant(const struct window *w, int64_t at_ms)
{
	return w->begin_ms <= at_ms && at_ms < w->end_ms;
}

static int segment_slice(const struct segment *s, int64_t at_ms, struct window *ret)
{
	size_t i;

	for (i = 0; i < segment_about(s)->slices; i++) {
		*ret = segment_slice_at(s, i)->slice.span;
		if (has_instant(ret, at_ms))
			return 0;
	}
	return -ENODATA;
}

int source_slice(const char *dir, const struct history_source *s, int64_t at_ms, struct window *ret)
{
	_cleanup_free_ char *path =
		s->is_segment ? source_path(dir, s)
			      : file_path(dir, &s->kind->files[s->kind->clock], s->first);
	_cleanup_(segment_freep) struct segment *segment = NULL;
	_cleanup_(slices_freep) struct slices *slices = NULL;
	struct slice slice;
	int r = s->is_segment ? segment_open(path, &segment, NULL)
			      : slices_read(path, &slices, NULL);

	if (r < 0)
		return r;
	if (segment)
		return segment_slice(segment, at_ms, ret);
	while (slices_next(slices, &slice)) {
		*ret = slice.span;
		if (has_instant(ret, at_ms))
			return 0;
	}
	return -ENODATA;
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

int sources_sum(const char *dir, uint32_t *ret_last, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	_cleanup_close_ int fd = open_list(dir, &names, err);
	uint32_t last, found = 0;
	const char *name;
	bool any = false;
	size_t at = 0;

	if (fd < 0 && fd != -ENOENT)
		return fd;
	while ((name = dirtree_next_name(&names, &at)))
		if (parse_sum(name, &last)) {
			found = MAX(found, last);
			any = true;
		}
	if (any)
		*ret_last = found;
	return any;
}

char *source_sum_path(const char *dir, uint32_t last)
{
	return file_path(dir, &(struct history_kind_file){ sum_mark, "" }, last);
}

void sources_remove_sums(const char *dir, uint32_t last)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	_cleanup_close_ int fd = open_list(dir, &names, NULL);
	const char *name;
	uint32_t of;
	size_t at = 0;

	while (fd >= 0 && (name = dirtree_next_name(&names, &at)))
		if (parse_sum(name, &of) && of < last)
			(void)dirtree_remove(fd, name, NULL);
}

/* --- generations --- */

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

static bool is_there(const char *dir, const struct history_kind *kind, uint32_t generation)
{
	_cleanup_free_ char *first = file_path(dir, &kind->files[0], generation);
	struct stat st;

	return lstat(first, &st) == 0 || errno != ENOENT;
}

/* Whether a segment or the sum has a generation. */
static bool is_elsewhere(const struct history_source *list, size_t count, uint32_t generation)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (list[i].is_segment && list[i].first <= generation && generation <= list[i].last)
			return true;
	return false;
}

static int compare_numbers(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* Lists the generations without their first file, each once. */
static int list_headless(const char *dir, const struct history_kind *kind, uint32_t **ret,
			 size_t *ret_count, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	_cleanup_close_ int fd = open_list(dir, &names, err);
	uint32_t *list = NULL, number;
	size_t count = 0, room = 0, at = 0, n = 0, i;
	const char *name;

	if (fd < 0 && fd != -ENOENT)
		return fd;
	while ((name = dirtree_next_name(&names, &at))) {
		if (!is_further(name, kind, UINT32_MAX, &number) || is_there(dir, kind, number))
			continue;
		array_grow(&list, count + 1, &room);
		list[count++] = number;
	}
	if (count)
		qsort(list, count, sizeof(*list), compare_numbers);
	for (i = 0; i < count; i++)
		if (!i || list[i] != list[i - 1])
			list[n++] = list[i];
	*ret = list;
	*ret_count = n;
	return 0;
}

int sources_lost(const char *dir, const struct history_kind *kind, uint32_t **ret,
		 size_t *ret_count, struct error *err)
{
	_cleanup_free_ struct history_source *list = NULL;
	_cleanup_free_ uint32_t *lost = NULL;
	size_t headless, count, n = 0, i;
	uint32_t last = 0;
	int has_sum, r = list_headless(dir, kind, &lost, &headless, err);

	*ret = NULL;
	*ret_count = 0;
	if (r < 0 || !headless)
		return r;
	/* After that: what was removed meanwhile has got into a sum before. */
	r = sources_list(dir, kind, &list, &count, err);
	has_sum = r < 0 ? r : sources_sum(dir, &last, err);
	if (has_sum < 0)
		return has_sum;
	for (i = 0; i < headless; i++)
		if (!(has_sum && lost[i] <= last) && !is_elsewhere(list, count, lost[i]))
			lost[n++] = lost[i];
	*ret = STEAL(lost);
	*ret_count = n;
	return 0;
}

int sources_next(const char *dir, const struct history_kind *kind, uint32_t *ret, struct error *err)
{
	_cleanup_free_ struct history_source *list = NULL;
	_cleanup_free_ uint32_t *lost = NULL;
	uint32_t last, next = 0;
	size_t count, i;
	int r = sources_list(dir, kind, &list, &count, err);

	if (r < 0)
		return r;
	r = kind->to_sum ? sources_sum(dir, &last, err) : 0;
	if (r < 0)
		return r;
	if (r)
		next = last + 1;
	for (i = 0; i < count; i++)
		next = MAX(next, list[i].last + 1);
	r = kind->to_sum ? sources_lost(dir, kind, &lost, &count, err) : 0;
	if (r == 0 && lost && count)
		next = MAX(next, lost[count - 1] + 1);
	*ret = next;
	return MIN(r, 0);
}

void source_remove(const char *dir, const struct history_source *s)
{
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_free_ char *path = source_path(dir, s);
	size_t i;

	/* The first file first: without it the generation does not exist. */
	(void)dirtree_remove(fd, path_base(path), NULL);
	for (i = 1; !s->is_segment && i < HISTORY_KIND_FILES && s->kind->files[i].before; i++) {
		_cleanup_free_ char *other = file_path(dir, &s->kind->files[i], s->first);

		(void)dirtree_remove(fd, path_base(other), NULL);
	}
}

void sources_tidy(const char *dir, const struct history_kind *kind, uint32_t live)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	_cleanup_close_ int fd = open_list(dir, &names, NULL);
	const char *name;
	uint32_t number;
	size_t at = 0;

	while (fd >= 0 && (name = dirtree_next_name(&names, &at))) {
		if (is_further(name, kind, live, &number) && !is_there(dir, kind, number))
			(void)dirtree_remove(fd, name, NULL);
	}
}
