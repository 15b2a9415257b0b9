/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_read.h"

#include "base/mem.h"
#include "base/parallel.h"
#include "file/path.h"
#include "chains/chain_history.h"
#include "chains/internal/chain_reader.h"
#include "history/history_kind.h"
#include "history/history_source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

/* What there is in the directory, and which pairs of files were read. */
struct listing {
	struct history_source *sources;
	size_t count;
	struct history_source *taken;
	size_t taken_count;
};

static bool is_taken(uint32_t pair, const void *data)
{
	const struct listing *l = data;
	size_t i;

	for (i = 0; i < l->taken_count; i++)
		if (l->taken[i].first <= pair && pair <= l->taken[i].last)
			return true;
	return false;
}

/* What was read of a segment. */
struct loaded {
	struct chain_generation generation;
	int status; /* of chain_generation_load_segment() */
};

/* Keeps the generation that was opened last, or not. */
static int settle(struct chain_reader *r, int status)
{
	if (status > 0)
		r->count++;
	else
		chain_generation_close(&r->generations[r->count]);
	return MIN(status, 0);
}

static int open_pair(struct chain_reader *r, const struct chain_generation_from *from,
		     uint32_t number, struct error *err)
{
	struct chain_generation *g;
	int status;

	array_grow(&r->generations, r->count + 1, &r->room);
	g = &r->generations[r->count];
	status = chain_generation_open_pair(from, number, g, err);
	/* The last pairs may not have been in a slice yet. */
	r->timeless += g->is_timeless && number + 1 < r->last_pair;
	return settle(r, status);
}

/* Keeps what was read of a segment. One that is damaged is counted. */
static int keep_segment(struct chain_reader *r, const struct chain_generation_from *from,
			const char *path, struct loaded *l, struct error *err)
{
	struct stat st;

	if (l->status < 0)
		(void)error_errno(err, l->status, "%s", path);

	array_grow(&r->generations, r->count + 1, &r->room);
	r->generations[r->count] = l->generation;
	if (l->status > 0)
		chain_generation_name_segment(&r->generations[r->count], from->names);
	if (l->status == -EBADMSG && stat(path, &st) == 0)
		r->damaged += (size_t)st.st_size;
	return settle(r, l->status);
}

static int open_segment(struct chain_reader *r, const struct chain_generation_from *from,
			const char *path, const struct listing *l, struct error *err)
{
	struct loaded loaded;

	loaded.status =
		chain_generation_load_segment(path, from->window, is_taken, l, &loaded.generation);
	return keep_segment(r, from, path, &loaded, err);
}

/* Opens the pairs after @last, or all if it is NULL. */
static int open_after(struct chain_reader *r, const struct chain_generation_from *from,
		      struct listing *l, const uint32_t *last, struct error *err)
{
	int status = 0;
	size_t i;

	for (i = 0; i < l->count && status == 0; i++)
		if (!l->sources[i].is_segment && (!last || l->sources[i].first > *last))
			status = open_pair(r, from, l->sources[i].first, err);
	return status;
}

/* Opens the pairs that no sum has. */
static int open_unsummed(struct chain_reader *r, const struct chain_generation_from *from,
			 struct listing *l, struct error *err)
{
	uint32_t last;
	int has_sum = sources_sum(from->dir, &last, err);

	return has_sum < 0 ? has_sum : open_after(r, from, l, has_sum ? &last : NULL, err);
}

/* Opens the sum of the pairs that may be gone, and the pairs after it. Another sum may appear
 * meanwhile. */
static int open_all(struct chain_reader *r, const struct chain_generation_from *from,
		    struct listing *l, struct error *err)
{
	uint32_t last;
	const int has_sum = sources_sum(from->dir, &last, err);
	_cleanup_free_ char *path = has_sum > 0 ? source_sum_path(from->dir, last) : NULL;
	int status = path ? open_segment(r, from, path, l, err) : MIN(has_sum, 0);

	if (status < 0 && status != -EBADMSG)
		return status;
	return open_after(r, from, l, has_sum ? &last : NULL, err);
}

/* Segments of one level that are read at the same time. */
struct batch {
	const struct chain_generation_from *from;
	const struct listing *listing;
	struct history_source *sources;
	struct loaded *loaded;
	size_t count;
};

static void load(size_t i, unsigned int thread _unused_, void *data)
{
	struct batch *b = data;
	_cleanup_free_ char *path = source_path(b->from->dir, &b->sources[i]);

	b->loaded[i].status = chain_generation_load_segment(path, b->from->window, is_taken,
							    b->listing, &b->loaded[i].generation);
}

static void take(struct listing *l, const struct history_source *s)
{
	l->taken[l->taken_count++] = *s;
}

/* Whether a source that was taken after @before others has pairs of @s. */
static bool is_outdated(const struct listing *l, size_t before, const struct history_source *s)
{
	for (; before < l->taken_count; before++)
		if (l->taken[before].first <= s->last && s->first <= l->taken[before].last)
			return true;
	return false;
}

/* Keeps the segments of a batch, one after the other. */
static int keep_batch(struct chain_reader *r, struct listing *l, struct batch *b, struct error *err)
{
	size_t before = l->taken_count, i;
	int status = 0;

	for (i = 0; i < b->count; i++) {
		struct history_source *s = &b->sources[i];
		_cleanup_free_ char *path = source_path(b->from->dir, s);
		bool again = is_outdated(l, before, s);

		if (status < 0 || again)
			chain_generation_close(&b->loaded[i].generation);
		if (status == 0)
			status = again ? open_segment(r, b->from, path, l, err)
				       : keep_segment(r, b->from, path, &b->loaded[i], err);
		if (status == 0)
			take(l, s);
		else if (status == -EBADMSG)
			status = 0;
	}
	return status;
}

/* Opens @count segments of one level, as many at a time as there are threads for. */
static int open_segments(struct chain_reader *r, const struct chain_generation_from *from,
			 struct listing *l, struct history_source *list, size_t count,
			 struct error *err)
{
	const size_t most = 2 * (size_t)parallel_threads();
	_cleanup_free_ struct loaded *loaded = xcalloc(most, sizeof(*loaded));
	size_t at;
	int status = 0;

	for (at = 0; at < count && status == 0; at += most) {
		struct batch b = { from, l, list + at, loaded, MIN(count - at, most) };

		parallel_each(b.count, load, &b);
		status = keep_batch(r, l, &b, err);
	}
	return status;
}

/* Opens what is inside a window that is long, from the coarsest level that it is long for. */
static int open_inside(struct chain_reader *r, const struct chain_generation_from *from,
		       struct listing *l, struct error *err)
{
	unsigned int level = sources_level(l->sources, l->count, from->window);
	int status = 0;

	for (; level > 0 && status == 0; level--) {
		size_t n;
		_cleanup_free_ struct history_source *inside =
			sources_inside(from->dir, l->sources, l->count, level, from->window, &n);

		status = open_segments(r, from, l, inside, n, err);
	}
	return status;
}

/* Whether a segment was opened. */
static bool was_opened(const struct listing *l, const struct history_source *s)
{
	size_t i;

	for (i = 0; i < l->taken_count; i++)
		if (l->taken[i].is_segment && l->taken[i].level == s->level &&
		    l->taken[i].first == s->first && l->taken[i].last == s->last)
			return true;
	return false;
}

/* Opens the segments of a level that were not opened yet. */
static int open_level(struct chain_reader *r, const struct chain_generation_from *from,
		      struct listing *l, unsigned int level, struct error *err)
{
	_cleanup_free_ struct history_source *list = xcalloc(l->count + 1, sizeof(*list));
	size_t n = 0, i;

	for (i = 0; i < l->count; i++)
		if (l->sources[i].is_segment && l->sources[i].level == level &&
		    !was_opened(l, &l->sources[i]))
			list[n++] = l->sources[i];
	return open_segments(r, from, l, list, n, err);
}

/* Opens what has the window, each pair of files from the finest source that has it. */
static int open_finest(struct chain_reader *r, const struct chain_generation_from *from,
		       struct listing *l, struct error *err)
{
	int status = open_level(r, from, l, 0, err);
	unsigned int level;
	size_t i;

	for (i = 0; i < l->count && status == 0; i++) {
		const struct history_source *s = &l->sources[i];

		if (s->is_segment || is_taken(s->first, l))
			continue;
		status = open_pair(r, from, s->first, err);
		if (status == 0)
			take(l, s);
	}
	for (level = 1; level < HISTORY_LEVELS && status == 0; level++)
		status = open_level(r, from, l, level, err);
	return status;
}

/* The same, unless the window is long. */
static int open_window(struct chain_reader *r, const struct chain_generation_from *from,
		       struct listing *l, struct error *err)
{
	int status = open_inside(r, from, l, err);

	return status < 0 ? status : open_finest(r, from, l, err);
}

typedef int opener(struct chain_reader *r, const struct chain_generation_from *from,
		   struct listing *l, struct error *err);

static uint32_t last_pair(const struct listing *l)
{
	uint32_t last = 0;
	size_t i;

	for (i = 0; i < l->count; i++)
		if (!l->sources[i].is_segment)
			last = MAX(last, l->sources[i].first);
	return last;
}

/* Reads the directory once; -ENOENT if one of its files has vanished. */
static int open_once(const char *dir, const struct window *window, opener *open_sources,
		     struct chain_reader **ret, struct error *err)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = xcalloc(1, sizeof(*r));
	_cleanup_free_ struct history_source *sources = NULL, *taken = NULL;
	struct chain_generation_from from = { dir, window, NULL };
	struct listing l = { 0 };
	int status = sources_list(dir, &history_chains, &sources, &l.count, err);

	if (status < 0)
		return status;
	taken = xcalloc(2 * l.count + 1, sizeof(*taken));
	l.sources = sources;
	l.taken = taken;
	from.names = chain_names_new();
	r->names = from.names;
	r->dir = xstrdup(dir);
	r->has_sources = l.count > 0;
	r->last_pair = last_pair(&l);
	status = open_sources(r, &from, &l, err);
	if (status == 0)
		*ret = STEAL(r);
	return status;
}

/* Nothing can be read. Returns -EBADMSG if there was something, else -ENOENT. */
static int refuse_empty(const char *samples, const struct window *window,
			const struct chain_reader *r, struct error *err)
{
	if (!r->lost.pairs)
		return error_set(err, -ENOENT, "%s: no call chains were recorded%s", samples,
				 window && r->has_sources ? " in this time" : "");
	return error_set(err, -EBADMSG, "%s/nodes.%" PRIu32 " is missing: its call chains are lost",
			 r->dir, r->lost.first);
}

static int reader_open(const char *samples, const struct window *window, opener *open_sources,
		       struct chain_reader **ret, struct error *err)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	_cleanup_free_ char *dir = path_join(samples, CHAIN_DIRECTORY);
	int i, status = -ENOENT;

	/* What a file that has vanished held is in another one, which was not there when the
	 * directory was read. */
	for (i = 0; i < SOURCES_TRIES_MAX && status == -ENOENT; i++)
		status = open_once(dir, window, open_sources, &r, err);
	if (status == 0 && open_sources != open_unsummed)
		status = chain_lost_find(dir, window, &r->lost, err);
	if (status < 0)
		return status;
	if (!r->count)
		return refuse_empty(samples, window, r, err);
	*ret = STEAL(r);
	return 0;
}

int chain_reader_open(const char *samples, const struct window *window, struct chain_reader **ret,
		      struct error *err)
{
	return reader_open(samples, window, window ? open_window : open_all, ret, err);
}

int chain_reader_open_finest(const char *samples, const struct window *window,
			     struct chain_reader **ret, struct error *err)
{
	return reader_open(samples, window, window ? open_finest : open_all, ret, err);
}

int chain_reader_open_unsummed(const char *samples, const struct window *window,
			       struct chain_reader **ret, struct error *err)
{
	return reader_open(samples, window, open_unsummed, ret, err);
}
