/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/upkeep.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "history/history_kind.h"
#include "history/history_source.h"
#include "history/internal/generations.h"
#include "history/internal/roll_many.h"
#include "history/internal/segment_roll.h"
#include "history/internal/idle_files.h"
#include "history/internal/publish.h"
#include "history/levels.h"
#include "history/segment.h"
#include "history/internal/sums.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* One kind of history of the session. */
struct branch {
	const struct history_kind *kind;
	char *dir;
	uint32_t live;	 /* the generation that is being written */
	uint32_t summed; /* generations before it are in the sum; UINT32_MAX if there is none */
	bool is_synced;	 /* the names of all segments are on the disk */
	struct segment_functions functions; /* ->of_line is NULL: they are unknown */
};

struct job {
	struct branch branches[2];
	size_t branch_count;
	const struct upkeep *how;
	struct strbuf *log;
	struct history_source *sources;
	size_t count;
	int written; /* segments */
	int error;   /* -errno of what failed first; 0: nothing */
};

static size_t branch_index(const struct job *j, const struct history_source *s)
{
	return j->branches[0].kind != s->kind;
}

static const struct branch *branch_of(const struct job *j, const struct history_source *s)
{
	return &j->branches[branch_index(j, s)];
}

/* Lists the sources of all branches, one branch after the other. If one cannot be listed, there are
 * none: what is made of a part would replace the rest, too. */
static void list_sources(struct job *j)
{
	size_t room = 0, i;

	free(j->sources);
	j->sources = NULL;
	j->count = 0;
	for (i = 0; i < j->branch_count; i++) {
		const struct branch *b = &j->branches[i];
		_cleanup_free_ struct history_source *list = NULL;
		struct error err = ERROR_INIT;
		size_t count;
		int r = sources_list(b->dir, b->kind, &list, &count, &err);

		if (r < 0) {
			strbuf_addf(j->log, "%s\n", err.text);
			if (!j->error)
				j->error = r;
			j->count = 0;
			return;
		}
		array_grow(&j->sources, j->count + count + 1, &room);
		if (count)
			memcpy(j->sources + j->count, list, count * sizeof(*list));
		j->count += count;
	}
}

/* --- reading --- */

/* Opens a source as a segment, which is NULL if it is damaged. 0, or -errno if nothing is known
 * about its contents. */
static int open_input(struct job *j, const struct history_source *s, struct segment **ret)
{
	const struct branch *b = branch_of(j, s);
	_cleanup_free_ char *path = source_path(b->dir, s);
	_cleanup_(segment_freep) struct segment *segment = NULL;
	size_t damaged = 0;
	int r;

	*ret = NULL;
	if (s->is_segment)
		r = segment_open(path, &segment, NULL);
	else
		r = b->kind->to_segment(b->dir, s->first, &segment, &damaged);
	if (r == 0)
		r = segment_load(segment, NULL);
	if (r < 0) {
		if (r != -EBADMSG && r != -EFBIG)
			return r;
		strbuf_addf(j->log, "%s is damaged and left out of the history\n", path_base(path));
		return 0;
	}
	if (damaged)
		strbuf_addf(j->log, "%s: %zu damaged bytes are left out of the history\n",
			    path_base(path), damaged);
	*ret = STEAL(segment);
	return 0;
}

/* When the slices of a source begin; when it was written, if that is not known. */
static int64_t begin_of(const struct job *j, const struct history_source *s)
{
	struct window span;

	return source_span(branch_of(j, s)->dir, s, &span) == 0 ? span.begin_ms
								: s->written_s * 1000;
}

/* --- rolling up --- */

/* Those that rare leaves are folded into; NULL: they are unknown. */
static const struct segment_functions *functions_of(const struct branch *b)
{
	return b->functions.of_line ? &b->functions : NULL;
}

/* Sources that are rolled up. */
struct run {
	struct job *job;
	const struct history_source *from;
	size_t count;
};

static int open_of_run(void *data, size_t i, struct segment **ret)
{
	const struct run *run = data;

	return open_input(run->job, &run->from[i], ret);
}

/* Makes the segment @to of a run. */
static int make_segment(struct run *run, const struct history_source *to, struct strbuf *bytes)
{
	struct job *j = run->job;
	const struct history_level *level = history_level(to->level);
	const struct segment_rolling how = {
		.about = { .level = to->level, .first = to->first, .last = to->last },
		.slice_ms = level->slice_ms,
		.is_small = to->level > 0,
		.part = to->kind->parts[to->level],
		.other = to->kind->other,
		.functions = functions_of(branch_of(j, to)),
	};
	int r = roll_many(&how, &(struct roll_inputs){ run->count, open_of_run, run }, bytes);

	if (r > 0)
		strbuf_addf(j->log, "%d damaged slices are left out of the history\n", r);
	return MIN(r, 0);
}

/* Notes that @name could not be written. */
static void fail(struct job *j, int error, const char *name)
{
	strbuf_addf(j->log, "cannot write %s: %s\n", name, strerror(-error));
	if (!j->error)
		j->error = error;
}

/* Rolls @count sources up to one of @level. */
static void roll_up(struct job *j, const struct history_source *from, size_t count,
		    unsigned int level)
{
	const char *dir = branch_of(j, from)->dir;
	struct history_source to = {
		.kind = from->kind,
		.level = level,
		.first = from->first,
		.last = from->last,
		.is_segment = true,
	};
	struct run run = { j, from, count };
	_cleanup_free_ char *path = NULL, *temporary = path_join(dir, "roll.tmp");
	_cleanup_(strbuf_done) struct strbuf bytes = STRBUF_INIT;
	size_t i;
	int r;

	for (i = 0; i < count; i++) {
		to.last = MAX(to.last, from[i].last);
		to.written_s = MAX(to.written_s, from[i].written_s);
	}
	path = source_path(dir, &to);
	j->branches[branch_index(j, from)].is_synced = false;
	r = make_segment(&run, &to, &bytes);
	if (r == 0)
		r = publish(path, temporary, &bytes, to.written_s);
	if (r == 0)
		j->written++;
	else
		fail(j, r, path_base(path));
}

/* Whether nothing is added to a source any more, and its counts are in sample files, or in the sum.
 * A generation goes into the sum first: so each segment is of what is in the sum, too. */
static bool is_closed(const struct job *j, const struct history_source *s)
{
	const struct branch *b = branch_of(j, s);

	return s->is_segment || (s->first < b->live && s->first < b->summed);
}

/* Whether a source is to be rolled up to the next level, sooner or later. */
static bool is_open(const struct job *j, const struct history_source *s, unsigned int level)
{
	return s->level + 1 == level && !s->is_rolled && !s->is_packed && is_closed(j, s);
}

/* Whether the hour, day or week of @level that is @period is over. */
static bool is_over(const struct job *j, unsigned int level, int64_t period)
{
	return j->how->now_ms / history_level(level)->span_ms != period;
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
		bool is_other = count && run[0].kind != s->kind;

		/* What is between two sources and in a segment already is not in theirs. */
		if (is_other ||
		    (count && s->level + 1 == level && (s->is_rolled || its != period))) {
			if (!is_other || is_over(j, level, period))
				roll_up(j, run, count, level);
			count = 0;
		}
		period = its;
		if (is_next)
			run[count++] = *s;
	}
	if (count && is_over(j, level, period))
		roll_up(j, run, count, level);
	free(run);
}

/* --- deleting --- */

/* Makes sure that what has the contents of other files is on the disk before these are deleted; its
 * name may not be, if that failed when it was written. */
static bool sync_names(struct job *j, struct branch *b)
{
	_cleanup_free_ char *inside = xasprintf("%s/", b->dir);
	int r = b->is_synced ? 0 : path_sync_parent(inside);

	b->is_synced = r == 0;
	if (r == 0)
		return true;
	strbuf_addf(j->log, "%s: %s: nothing is deleted\n", b->dir, strerror(-r));
	if (!j->error)
		j->error = r;
	return false;
}

/* Returns whether it was deleted. */
static bool delete (struct job *j, size_t i)
{
	struct branch *b = &j->branches[branch_index(j, &j->sources[i])];

	if (!sync_names(j, b))
		return false;
	source_remove(b->dir, &j->sources[i]);
	j->count--;
	memmove(&j->sources[i], &j->sources[i + 1], (j->count - i) * sizeof(*j->sources));
	return true;
}

/* Whether a source is older than the history should be, or than its level should be and in the next
 * one, too; or is a generation whose slices are in a segment of level 0. */
static bool is_old(const struct job *j, const struct history_source *s)
{
	int64_t age_ms = j->how->now_ms - s->written_s * 1000,
		kept_ms = history_level(s->level)->keep_ms + s->kind->longer_ms;

	return s->is_packed ||
	       (j->how->keep_ms && age_ms > 0 && (uint64_t)age_ms > j->how->keep_ms) ||
	       (age_ms > kept_ms && (s->is_rolled || s->level == HISTORY_LEVELS - 1));
}

static void delete_old(struct job *j)
{
	size_t i;

	for (i = j->count; i > 0; i--)
		if (is_closed(j, &j->sources[i - 1]) && is_old(j, &j->sources[i - 1]) &&
		    !delete (j, i - 1))
			break;
}

/* Whether @a goes before @b: what is in a coarser source, too, and of that the finest; else the
 * oldest. */
static bool goes_before(const struct history_source *a, const struct history_source *b)
{
	int64_t a_s = a->written_s + a->kind->longer_ms / 1000,
		b_s = b->written_s + b->kind->longer_ms / 1000;

	if (a->is_rolled != b->is_rolled)
		return a->is_rolled;
	if (a->is_rolled && a->level != b->level)
		return a->level < b->level;
	return a_s != b_s ? a_s < b_s : a->kind == b->kind && a->first < b->first;
}

/* The source to delete first if they are too large. ->count: none. */
static size_t find_victim(const struct job *j)
{
	size_t victim = j->count, i;

	for (i = 0; i < j->count; i++)
		if (is_closed(j, &j->sources[i]) &&
		    (victim == j->count || goes_before(&j->sources[i], &j->sources[victim])))
			victim = i;
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
		uint64_t its = victim < j->count ? j->sources[victim].bytes : 0;

		if (victim == j->count || !delete (j, victim))
			break;
		bytes -= its;
		deleted++;
	}
	if (deleted)
		strbuf_addf(j->log,
			    "the history had %" PRIu64 " bytes, more than --max-history: "
			    "its %u oldest files of the finest levels were deleted\n",
			    before, deleted);
}

static void add_branch(struct job *j, const char *samples, const struct history_kind *kind,
		       uint32_t live, const struct segment_functions *functions)
{
	struct branch *b = &j->branches[j->branch_count++];

	*b = (struct branch){ .kind = kind,
			      .dir = path_join(samples, kind->directory),
			      .live = live,
			      .summed = UINT32_MAX,
			      .functions = *functions };
	b->functions.kind = kind;
}

/* Adds the generations that have ended to the sums. */
static void add_up(struct job *j)
{
	size_t i;

	for (i = 0; i < j->branch_count; i++) {
		struct branch *b = &j->branches[i];
		struct error err = ERROR_INIT;
		uint32_t last;
		int r;

		if (!b->kind->to_sum)
			continue;
		r = sums_add(&(struct sums_of){ b->dir, b->kind, functions_of(b) }, b->live,
			     j->log);
		if (!j->error)
			j->error = r;
		r = sources_sum(b->dir, &last, &err);
		if (r < 0)
			strbuf_addf(j->log, "%s\n", err.text);
		b->summed = r > 0 ? last + 1 : 0;
	}
}

/* Makes one segment of level 0 of generations, if there are enough. */
static void pack_run(struct job *j, const struct history_source *run, size_t count)
{
	if (count && count >= run->kind->packs)
		roll_up(j, run, count, 0);
}

/* Makes segments of level 0 of the closed generations of each hour, if they are many. */
static void pack(struct job *j)
{
	_cleanup_free_ struct history_source *run = xcalloc(j->count + 1, sizeof(*run));
	size_t count = 0, i;
	int64_t hour = 0;

	for (i = 0; i < j->count; i++) {
		const struct history_source *s = &j->sources[i];
		bool is_next = s->kind->packs && !s->is_segment && is_open(j, s, 1);
		int64_t its = is_next ? begin_of(j, s) / history_level(1)->span_ms : hour;

		/* As in roll_level(): a segment does not span what another one has. */
		if (count && (!is_next || its != hour)) {
			pack_run(j, run, count);
			count = 0;
		}
		hour = its;
		if (is_next)
			run[count++] = *s;
	}
	pack_run(j, run, count);
}

/* Rolls up to all levels, and deletes what is not needed then. */
static void roll_all(struct job *j)
{
	unsigned int level;

	list_sources(j);
	pack(j);
	list_sources(j);
	delete_old(j);
	for (level = 1; level < HISTORY_LEVELS; level++) {
		list_sources(j);
		roll_level(j, level);
	}
	list_sources(j);
	delete_old(j);
	delete_excess(j, j->how->bytes_max);
}

/* Says which generations are lost, before they are in a sum, without what they had. */
static void note_lost(struct job *j, const struct branch *b)
{
	_cleanup_free_ uint32_t *lost = NULL;
	size_t count, i;

	if (!b->kind->to_sum || sources_lost(b->dir, b->kind, &lost, &count, NULL) < 0)
		return;
	for (i = 0; i < count; i++)
		if (lost[i] < b->live)
			strbuf_addf(j->log, "%s%" PRIu32 "%s is missing: what it had is lost\n",
				    b->kind->files[0].before, lost[i], b->kind->files[0].after);
}

int history_upkeep(const char *samples, const struct upkeep *how, struct strbuf *log)
{
	struct segment_functions functions = { 0 };
	struct job j = { .how = how, .log = log };
	size_t i;

	if (how->functions)
		how->functions->open(samples, &functions);
	add_branch(&j, samples, &history_flat, how->live, &functions);
	if (how->chains)
		add_branch(&j, samples, how->chains, how->chains_live, &functions);
	/* In case no roll-up comes to an end: then nothing is deleted after it, either. */
	for (i = 0; i < j.branch_count; i++) {
		j.branches[i].summed = j.branches[i].kind->to_sum ? 0 : UINT32_MAX;
		note_lost(&j, &j.branches[i]);
	}
	list_sources(&j);
	delete_old(&j);
	delete_excess(&j, 2 * how->bytes_max);
	add_up(&j);
	roll_all(&j);
	if (how->functions)
		how->functions->close(&functions);
	for (i = 0; i < j.branch_count; i++) {
		sources_tidy(j.branches[i].dir, j.branches[i].kind, j.branches[i].live);
		free(j.branches[i].dir);
	}
	if (!how->spares_files)
		idle_files_merge(samples, how->functions, log);
	if (how->idle_ms && !how->spares_files)
		idle_files_move(samples, (how->now_ms - (int64_t)how->idle_ms) / 1000, log);
	free(j.sources);
	return j.error ? j.error : j.written;
}
