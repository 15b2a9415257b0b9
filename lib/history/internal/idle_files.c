/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/idle_files.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/dirtree.h"
#include "file/path.h"
#include "history/internal/generations.h"
#include "history/history_kind.h"
#include "history/history_source.h"
#include "history/internal/publish.h"
#include "history/segment.h"
#include "history/internal/segment_roll.h"
#include "history/levels.h"
#include "sfile/idle.h"
#include "sfile/session.h"
#include "sfile/sname.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int open_directory(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* --- merging --- */

/* What the new segment is made of. */
struct merge {
	const char *dir;
	const char *samples;
	const struct history_functions *functions; /* NULL: they are unknown */
	struct strbuf *log;
	struct strbuf names; /* in the directory */
	uint32_t merged, last;
	uint32_t to; /* the last batch of the new segment; 0: there is none */
	struct segment **inputs;
	size_t count, room, nodes;
};

static void find_batches(struct merge *m)
{
	const char *name;
	size_t at = 0;

	while ((name = dirtree_next_name(&m->names, &at))) {
		m->merged = MAX(m->merged, idle_segment_last(name));
		m->last = MAX(m->last, idle_batch(name));
	}
}

/* The first batch after number @after; 0: there is none. */
static uint32_t batch_after(const struct merge *m, uint32_t after)
{
	uint32_t first = 0;
	const char *name;
	size_t at = 0;

	while ((name = dirtree_next_name(&m->names, &at))) {
		uint32_t batch = idle_batch(name);

		if (batch > after && (!first || batch < first))
			first = batch;
	}
	return first;
}

static struct history_source source_of(uint32_t last)
{
	return (struct history_source){
		.kind = &history_flat,
		.level = IDLE_LEVEL,
		.first = 1,
		.last = last,
		.is_segment = true,
	};
}

/* Whether all of @s can be read: 0 or -errno. */
static int load_all(struct segment *s)
{
	struct segment_counts counts;
	int r = segment_load(s, NULL);
	size_t i;

	for (i = 0; r == 0 && i < segment_about(s)->slices; i++)
		r = segment_counts(s, i, &counts);
	return r;
}

/* Adds an input; takes @s. */
static void add_input(struct merge *m, struct segment *s)
{
	array_grow(&m->inputs, m->count + 1, &m->room);
	m->nodes += segment_about(s)->nodes;
	m->inputs[m->count++] = s;
}

/* Moves what is damaged to the same path below damaged/. Instead of a segment, readers and the next
 * merge take what it was made of, which is removed only after it was read once. 0 or -errno. */
static int set_apart(const struct merge *m, const char *path)
{
	const char *below = path + strlen(m->dir) + 1;
	_cleanup_free_ char *to = path_join(IDLE_DAMAGED, below);
	_cleanup_close_ int dir = open_directory(m->dir);
	int r = dir < 0 ? -errno : dirtree_make_parents(dir, to, 0755, NULL);

	if (r == 0)
		r = dirtree_rename(dir, below, to, NULL);
	if (r == 0)
		strbuf_addf(m->log, "%s is damaged; moved to %s/%s\n", path, m->dir, to);
	return r;
}

static int add_segment(struct merge *m)
{
	const struct history_source source = source_of(m->merged);
	_cleanup_free_ char *path = source_path(m->dir, &source);
	_cleanup_(segment_freep) struct segment *s = NULL;
	int r = segment_open(path, &s, NULL);

	if (r == 0)
		r = load_all(s);
	if (r == 0)
		add_input(m, STEAL(s));
	if (r == -EBADMSG || r == -EFBIG)
		(void)set_apart(m, path);
	return r;
}

/* Makes a segment of the files in @path. Damaged ones are left out, and set apart. */
static int read_batch(struct merge *m, const char *path, struct segment **ret)
{
	_cleanup_(strbuf_done) struct strbuf damaged = STRBUF_INIT;
	int r = files_to_segment(path, ret, &damaged);
	const char *name;
	size_t at = 0;

	while (r == 0 && (name = dirtree_next_name(&damaged, &at)))
		r = set_apart(m, name);
	return r;
}

/* Adds the batch with number @batch. 0, or -errno: -EFBIG if there are too many nodes then. */
static int add_batch(struct merge *m, uint32_t batch)
{
	_cleanup_free_ char *path = xasprintf("%s/%" PRIu32 ".files", m->dir, batch);
	_cleanup_(segment_freep) struct segment *s = NULL;
	int r = read_batch(m, path, &s);

	if (r < 0)
		return r;
	if (m->to && m->nodes + segment_about(s)->nodes > SEGMENT_NODES_MAX)
		return -EFBIG;
	add_input(m, STEAL(s));
	m->to = batch;
	return 0;
}

/* Adds the segment and as many batches as fit; the others are for the next time. */
static int add_inputs(struct merge *m)
{
	uint32_t batch = m->merged;
	int r = m->merged ? add_segment(m) : 0;

	while (r == 0 && (batch = batch_after(m, batch)))
		r = add_batch(m, batch);
	return r == -EFBIG && m->to ? 0 : r;
}

static int write_segment(struct merge *m)
{
	const struct history_source to = source_of(m->to);
	struct segment_functions functions = { 0 };
	const struct segment_rolling how = {
		.about = { .level = to.level, .first = to.first, .last = to.last },
		.slice_ms = INT64_MAX, /* one slice */
		.part = history_flat.parts[IDLE_LEVEL],
		.other = generation_other_task,
		.functions = m->functions ? &functions : NULL,
	};
	_cleanup_free_ char *path = source_path(m->dir, &to), *temporary = NULL;
	_cleanup_(strbuf_done) struct strbuf bytes = STRBUF_INIT;
	int r;

	if (m->functions) {
		m->functions->open(m->samples, &functions);
		functions.kind = &history_flat;
	}
	r = segment_roll(&how, m->inputs, m->count, &bytes);
	if (m->functions)
		m->functions->close(&functions);
	if (r > 0) /* slices that could be read a moment ago */
		return -EIO;
	temporary = path_join(m->dir, "roll.tmp");
	return r < 0 ? r : publish(path, temporary, &bytes, time(NULL));
}

/* Removes what was in the segment before this merge: a reader that listed it may still read what is
 * merged now. */
static void remove_merged(const struct merge *m)
{
	_cleanup_close_ int fd = open_directory(m->dir);
	const char *name;
	size_t at = 0;

	while (fd >= 0 && (name = dirtree_next_name(&m->names, &at))) {
		uint32_t batch = idle_batch(name), segment = idle_segment_last(name);

		if ((batch && batch <= m->merged) || (segment && segment < m->merged))
			(void)dirtree_remove(fd, name, NULL);
	}
}

void idle_files_merge(const char *samples, const struct history_functions *functions,
		      struct strbuf *log)
{
	_cleanup_free_ char *dir = path_join(samples, SESSION_IDLE);
	struct merge m = { .dir = dir,
			   .samples = samples,
			   .functions = functions,
			   .log = log,
			   .names = STRBUF_INIT };
	int r = dirtree_names_of(dir, &m.names);
	size_t i;

	if (r == 0) {
		find_batches(&m);
		r = add_inputs(&m);
	}
	if (r == 0)
		remove_merged(&m);
	if (r == 0 && m.to)
		r = write_segment(&m);
	if (r < 0 && r != -ENOENT)
		strbuf_addf(log, "cannot add up the sample files in %s: %s\n", dir, strerror(-r));
	for (i = 0; i < m.count; i++)
		segment_free(m.inputs[i]);
	free(m.inputs);
	strbuf_done(&m.names);
}

/* --- moving --- */

/* The files of a batch, so that it becomes a segment with fewer nodes than are allowed. */
static const int64_t BATCH_BYTES = INT64_C(256) << 20;

struct move {
	int top; /* the session */
	int64_t until_s;
	uint32_t batch;
	int64_t bytes; /* in the batch */
};

/* Finds the number of the next batch: greater than that of any, also of those that are removed. 0
 * or -errno: what goes into one that was merged already is removed unread. */
static int next_batch(const char *samples, uint32_t *ret)
{
	_cleanup_free_ char *dir = path_join(samples, SESSION_IDLE);
	struct merge m = { .names = STRBUF_INIT };
	int r = dirtree_names_of(dir, &m.names);

	if (r == 0 || r == -ENOENT) {
		find_batches(&m);
		*ret = MAX(m.merged, m.last) + 1;
		r = 0;
	}
	strbuf_done(&m.names);
	return r;
}

/* Whether @path is that of a sample file whose counts a segment can have: not those of arcs. */
static bool can_move(const char *path)
{
	struct sname name;
	bool can;

	if (*path_base(path) == '.' || sname_parse(path, &name, NULL) < 0)
		return false;
	can = !name.has_callee;
	sname_done(&name);
	return can;
}

/* Moves a sample file; directories that are empty then, go. */
static int move_entry(const struct dirtree_visit *visit, void *data)
{
	struct move *m = data;
	_cleanup_free_ char *to = NULL;

	if (S_ISDIR(visit->st.st_mode)) {
		dirtree_remove_empty(visit);
		return 0;
	}
	if (!S_ISREG(visit->st.st_mode) || visit->st.st_mtim.tv_sec >= m->until_s ||
	    !can_move(visit->path))
		return 0;
	if (m->bytes && m->bytes + visit->st.st_size > BATCH_BYTES) {
		m->batch++;
		m->bytes = 0;
	}
	to = xasprintf(SESSION_IDLE "/%" PRIu32 ".files/%s", m->batch, visit->path);
	if (dirtree_make_parents(m->top, to, 0755, NULL) == 0 &&
	    dirtree_rename(m->top, visit->path, to, NULL) == 0)
		m->bytes += visit->st.st_size;
	return 0;
}

void idle_files_move(const char *samples, int64_t until_s, struct strbuf *log)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	_cleanup_close_ int top = open_directory(samples);
	struct move m = { .top = top, .until_s = until_s };
	int r = top < 0 ? -errno : dirtree_names(top, &names);
	const char *name;
	size_t at = 0;

	if (r == 0)
		r = next_batch(samples, &m.batch);
	while (r == 0 && (name = dirtree_next_name(&names, &at)))
		if (*name == '{')
			(void)dirtree_walk(top, name, move_entry, &m, NULL);
	if (r < 0)
		strbuf_addf(log, "cannot move idle sample files of %s: %s\n", samples,
			    strerror(-r));
}
