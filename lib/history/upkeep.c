/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/upkeep.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "history/history_name.h"
#include "history/internal/generations.h"
#include "history/internal/segment.h"
#include "history/internal/segment_roll.h"
#include "history/internal/history_source.h"
#include "history/internal/idle_files.h"
#include "history/internal/publish.h"
#include "history/levels.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct job {
	const char *dir;
	const struct upkeep *how;
	struct strbuf *log;
	struct history_source *sources;
	size_t count;
	unsigned int written; /* segments */
};

/* A file that a segment is made of. */
struct input {
	struct segment *segment; /* NULL: it cannot be read */
	struct strbuf bytes;	 /* of the segment, if it is made of a generation */
};

static void list_sources(struct job *j)
{
	free(j->sources);
	j->sources = sources_list(j->dir, &j->count);
}

/* --- reading --- */

/* Opens a source as a segment, which is NULL if it is damaged. 0, or -errno if nothing is known
 * about its contents. */
static int open_input(struct job *j, const struct history_source *s, struct input *ret)
{
	_cleanup_free_ char *path = source_path(j->dir, s);
	struct error err = ERROR_INIT;
	size_t damaged = 0;
	int r;

	*ret = (struct input){ .bytes = STRBUF_INIT };
	if (s->level) {
		r = segment_open(path, &ret->segment, &err);
	} else {
		r = generation_to_segment(j->dir, s->first, &ret->bytes, &damaged);
		if (r == 0)
			r = segment_open_bytes(ret->bytes.text, ret->bytes.length, &ret->segment,
					       &err);
	}
	if (r == 0)
		r = segment_load(ret->segment, &err);
	if (r < 0) {
		segment_free(ret->segment);
		ret->segment = NULL;
		if (r != -EBADMSG && r != -EFBIG)
			return r;
		strbuf_addf(j->log, "%s is damaged and left out of the history\n", path_base(path));
	} else if (damaged) {
		strbuf_addf(j->log, "%s: %zu damaged bytes are left out of the history\n",
			    path_base(path), damaged);
	}
	return 0;
}

static void close_input(struct input *in)
{
	segment_free(in->segment);
	strbuf_done(&in->bytes);
}

/* When the slices of a source begin; when it was written, if that is not known. */
static int64_t begin_of(const struct job *j, const struct history_source *s)
{
	_cleanup_free_ char *path = source_path(j->dir, s);
	_cleanup_(segment_freep) struct segment *segment = NULL;
	_cleanup_(slices_freep) struct slices *slices = NULL;
	struct slice slice;

	if (s->level && segment_open(path, &segment, NULL) == 0 && segment_about(segment)->slices)
		return segment_about(segment)->span.begin_ms;
	if (!s->level && slices_read(path, &slices, NULL) == 0 && slices_next(slices, &slice))
		return slice.span.begin_ms;
	return s->written_s * 1000;
}

/* --- rolling up --- */

/* Makes the segment @to of @count sources. */
static int make_segment(struct job *j, const struct history_source *from, size_t count,
			const struct history_source *to, struct strbuf *bytes)
{
	const struct history_level *level = history_level(to->level);
	const struct segment_rolling how = {
		.about = { .level = to->level, .first = to->first, .last = to->last },
		.slice_ms = level->slice_ms,
		.part = level->part,
		.other = generation_other,
	};
	_cleanup_free_ struct input *inputs = xcalloc(count, sizeof(*inputs));
	_cleanup_free_ struct segment **segments = xcalloc(count, sizeof(struct segment *));
	size_t i, n = 0;
	int r = 0;

	for (i = 0; r == 0 && i < count; i++) {
		r = open_input(j, &from[i], &inputs[i]);
		if (inputs[i].segment)
			segments[n++] = inputs[i].segment;
	}
	if (r == 0)
		r = segment_roll(&how, segments, n, bytes);
	if (r > 0)
		strbuf_addf(j->log, "%d damaged slices are left out of the history\n", r);
	for (i = 0; i < count; i++)
		close_input(&inputs[i]);
	return MIN(r, 0);
}

/* Rolls @count sources up to one of @level. */
static void roll_up(struct job *j, const struct history_source *from, size_t count,
		    unsigned int level)
{
	struct history_source to = { .level = level, .first = from->first, .last = from->last };
	_cleanup_free_ char *path = NULL, *temporary = path_join(j->dir, "roll.tmp");
	_cleanup_(strbuf_done) struct strbuf bytes = STRBUF_INIT;
	size_t i;
	int r;

	for (i = 0; i < count; i++) {
		to.last = MAX(to.last, from[i].last);
		to.written_s = MAX(to.written_s, from[i].written_s);
	}
	path = source_path(j->dir, &to);
	r = make_segment(j, from, count, &to, &bytes);
	if (r == 0)
		r = publish(path, temporary, &bytes, to.written_s);
	if (r == 0)
		j->written++;
	else
		strbuf_addf(j->log, "cannot write %s: %s\n", path_base(path), strerror(-r));
}

/* Whether a source is to be rolled up to the next level, sooner or later. */
static bool is_open(const struct job *j, const struct history_source *s, unsigned int level)
{
	return s->level + 1 == level && !s->is_rolled && (s->level > 0 || s->first < j->how->live);
}

/* Rolls up to @level each run of sources that are about the same hour, day or week, once that is
 * over. Runs are those of neighbours, whatever the clock was set to. */
static void roll_level(struct job *j, unsigned int level)
{
	const struct history_level *l = history_level(level);
	struct history_source *run = xcalloc(j->count + 1, sizeof(*run));
	int64_t period = 0;
	size_t count = 0, i;

	for (i = 0; i < j->count; i++) {
		const struct history_source *s = &j->sources[i];
		bool is_next = is_open(j, s, level);
		int64_t its = is_next ? begin_of(j, s) / l->span_ms : period;

		/* What is between two sources and in a segment already is not in theirs. */
		if (count && s->level + 1 == level && (s->is_rolled || its != period)) {
			roll_up(j, run, count, level);
			count = 0;
		}
		period = its;
		if (is_next)
			run[count++] = *s;
	}
	if (count && j->how->now_ms / l->span_ms != period)
		roll_up(j, run, count, level);
	free(run);
}

/* --- deleting --- */

static void delete (struct job *j, size_t i)
{
	source_remove(j->dir, &j->sources[i]);
	j->count--;
	memmove(&j->sources[i], &j->sources[i + 1], (j->count - i) * sizeof(*j->sources));
}

/* Deletes what is older than the history should be, or than its level should be and in the next
 * one, too. */
static void delete_old(struct job *j)
{
	size_t i;

	for (i = j->count; i > 0; i--) {
		const struct history_source *s = &j->sources[i - 1];
		int64_t age_ms = j->how->now_ms - s->written_s * 1000;

		if (!s->level && s->first >= j->how->live)
			continue;
		if ((j->how->keep_ms && age_ms > 0 && (uint64_t)age_ms > j->how->keep_ms) ||
		    (age_ms > history_level(s->level)->keep_ms &&
		     (s->is_rolled || s->level == HISTORY_LEVELS - 1)))
			delete (j, i - 1);
	}
}

/* The source to delete first if they are too large: the finest and oldest one that is in a coarser
 * one, too; else the oldest one. ->count: none. */
static size_t find_victim(const struct job *j)
{
	size_t victim = j->count, i;

	for (i = 0; i < j->count; i++) {
		const struct history_source *s = &j->sources[i];

		if (s->is_rolled)
			return i;
		if ((s->level || s->first < j->how->live) &&
		    (victim == j->count || s->first < j->sources[victim].first))
			victim = i;
	}
	return victim;
}

static void delete_excess(struct job *j, uint64_t bytes_max)
{
	uint64_t bytes = 0, before;
	unsigned int deleted = 0;
	size_t i;

	for (i = 0; i < j->count; i++)
		bytes += j->sources[i].bytes;
	before = bytes;
	while (bytes_max && bytes > bytes_max) {
		size_t victim = find_victim(j);

		if (victim == j->count)
			break;
		bytes -= j->sources[victim].bytes;
		deleted++;
		delete (j, victim);
	}
	if (deleted)
		strbuf_addf(j->log,
			    "the history had %" PRIu64 " bytes, more than --max-history: "
			    "its %u oldest files of the finest levels were deleted\n",
			    before, deleted);
}

unsigned int history_upkeep(const char *samples, const struct upkeep *how, struct strbuf *log)
{
	_cleanup_free_ char *dir = path_join(samples, HISTORY_DIRECTORY);
	struct job j = { .dir = dir, .how = how, .log = log };
	unsigned int level;

	/* In case no roll-up comes to an end: then nothing is deleted after it, either. */
	list_sources(&j);
	delete_old(&j);
	delete_excess(&j, 2 * how->bytes_max);
	for (level = 1; level < HISTORY_LEVELS; level++) {
		list_sources(&j);
		roll_level(&j, level);
	}
	list_sources(&j);
	delete_old(&j);
	delete_excess(&j, how->bytes_max);
	sources_tidy(dir, how->live);
	idle_files_merge(samples, log);
	if (how->idle_ms)
		(void)idle_files_move(samples, (how->now_ms - (int64_t)how->idle_ms) / 1000);
	free(j.sources);
	return j.written;
}
