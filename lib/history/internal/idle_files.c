/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/idle_files.h"

#include "base/dirtree.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "history/internal/generations.h"
#include "history/internal/history_source.h"
#include "history/internal/publish.h"
#include "history/internal/segment.h"
#include "history/internal/segment_roll.h"
#include "history/levels.h"
#include "sfile/idle.h"
#include "sfile/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static int open_directory(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The names in the directory @path, each with its NUL. */
static struct strbuf list_names(const char *path)
{
	struct strbuf names = STRBUF_INIT;
	int fd = open_directory(path);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		strbuf_add(&names, entry->d_name, strlen(entry->d_name) + 1);
	if (d)
		(void)closedir(d);
	return names;
}

static const char *next_name(const struct strbuf *names, size_t *at)
{
	const char *name = *at < names->length ? names->text + *at : NULL;

	if (name)
		*at += strlen(name) + 1;
	return name;
}

/* --- merging --- */

/* What the new segment is made of. */
struct merge {
	const char *dir;
	struct strbuf *log;
	struct strbuf names; /* in the directory */
	uint32_t merged, last;
	struct segment **inputs;
	struct strbuf *bytes; /* of those made of batches */
	size_t count, room, bytes_room;
};

static void find_batches(struct merge *m)
{
	const char *name;
	size_t at = 0;

	while ((name = next_name(&m->names, &at))) {
		m->merged = MAX(m->merged, idle_segment_last(name));
		m->last = MAX(m->last, idle_batch(name));
	}
}

static struct history_source source_of(uint32_t last)
{
	return (struct history_source){ .level = IDLE_LEVEL, .first = 1, .last = last };
}

/* Adds an input; takes @bytes. 0, or -errno if it cannot be read. */
static int add_input(struct merge *m, struct segment *s, struct strbuf *bytes)
{
	int r = segment_load(s, NULL);

	if (r < 0) {
		segment_free(s);
		return r;
	}
	array_grow(&m->inputs, m->count + 1, &m->room);
	array_grow(&m->bytes, m->count + 1, &m->bytes_room);
	m->bytes[m->count] = *bytes;
	m->inputs[m->count++] = s;
	*bytes = STRBUF_INIT;
	return 0;
}

/* A damaged segment is left out: its counts are lost. */
static int add_segment(struct merge *m)
{
	const struct history_source source = source_of(m->merged);
	_cleanup_free_ char *path = source_path(m->dir, &source);
	struct strbuf none = STRBUF_INIT;
	struct segment *s;
	int r = segment_open(path, &s, NULL);

	if (r == 0)
		r = add_input(m, s, &none);
	if (r != -EBADMSG && r != -EFBIG)
		return r;
	strbuf_addf(m->log, "%s is damaged: its samples are lost\n", path);
	return 0;
}

static int add_batch(struct merge *m, const char *name)
{
	_cleanup_free_ char *path = path_join(m->dir, name);
	_cleanup_(strbuf_done) struct strbuf bytes = STRBUF_INIT;
	struct segment *s;
	size_t damaged = 0;
	int r = files_to_segment(path, &bytes, &damaged);

	if (damaged)
		strbuf_addf(m->log, "%s: %zu damaged sample files are left out\n", path, damaged);
	if (r == 0)
		r = segment_open_bytes(bytes.text, bytes.length, &s, NULL);
	return r < 0 ? r : add_input(m, s, &bytes);
}

static int add_inputs(struct merge *m)
{
	const char *name;
	size_t at = 0;
	int r = m->merged ? add_segment(m) : 0;

	while (r == 0 && (name = next_name(&m->names, &at)))
		if (idle_batch(name) > m->merged)
			r = add_batch(m, name);
	return r;
}

static int write_segment(struct merge *m)
{
	const struct history_source to = source_of(m->last);
	const struct segment_rolling how = {
		.about = { .level = to.level, .first = to.first, .last = to.last },
		.slice_ms = INT64_MAX, /* one slice */
		.part = history_level(IDLE_LEVEL)->part,
		.other = generation_other,
	};
	_cleanup_free_ char *path = source_path(m->dir, &to), *temporary = NULL;
	_cleanup_(strbuf_done) struct strbuf bytes = STRBUF_INIT;
	int r = segment_roll(&how, m->inputs, m->count, &bytes);

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

	while (fd >= 0 && (name = next_name(&m->names, &at))) {
		uint32_t batch = idle_batch(name), segment = idle_segment_last(name);

		if ((batch && batch <= m->merged) || (segment && segment < m->merged))
			(void)dirtree_remove(fd, name, NULL);
	}
}

void idle_files_merge(const char *samples, struct strbuf *log)
{
	_cleanup_free_ char *dir = path_join(samples, SESSION_IDLE);
	struct merge m = { .dir = dir, .log = log, .names = list_names(dir) };
	size_t i;
	int r = 0;

	find_batches(&m);
	remove_merged(&m);
	if (m.last > m.merged) {
		r = add_inputs(&m);
		if (r == 0)
			r = write_segment(&m);
	}
	if (r < 0)
		strbuf_addf(log, "cannot add up the sample files in %s: %s\n", dir, strerror(-r));
	for (i = 0; i < m.count; i++) {
		segment_free(m.inputs[i]);
		strbuf_done(&m.bytes[i]);
	}
	free(m.inputs);
	free(m.bytes);
	strbuf_done(&m.names);
}

/* --- moving --- */

struct move {
	int top; /* the session */
	int64_t until_s;
	uint32_t batch;
	uint64_t count;
};

/* The number of the next batch: greater than that of any, also of those that are removed. */
static uint32_t next_batch(const char *samples)
{
	_cleanup_free_ char *dir = path_join(samples, SESSION_IDLE);
	_cleanup_(strbuf_done) struct strbuf names = list_names(dir);
	struct merge m = { .names = names };

	find_batches(&m);
	return MAX(m.merged, m.last) + 1;
}

/* Moves a sample file; directories that are empty then, go. */
static int move_entry(const struct dirtree_visit *visit, void *data)
{
	struct move *m = data;
	const char *name = path_base(visit->path);
	size_t length = strlen(name);
	_cleanup_free_ char *to = NULL;

	if (S_ISDIR(visit->st.st_mode)) {
		dirtree_remove_empty(visit);
		return 0;
	}
	if (!S_ISREG(visit->st.st_mode) || visit->st.st_mtim.tv_sec >= m->until_s || *name == '.' ||
	    (length > 3 && !strcmp(name + length - 3, ".jo")))
		return 0;
	to = xasprintf(SESSION_IDLE "/%" PRIu32 ".files/%s", m->batch, visit->path);
	if (dirtree_make_parents(m->top, to, 0755, NULL) == 0 &&
	    dirtree_rename(m->top, visit->path, to, NULL) == 0)
		m->count++;
	return 0;
}

uint64_t idle_files_move(const char *samples, int64_t until_s)
{
	_cleanup_(strbuf_done) struct strbuf names = list_names(samples);
	_cleanup_close_ int top = open_directory(samples);
	struct move m = { .top = top, .until_s = until_s, .batch = next_batch(samples) };
	const char *name;
	size_t at = 0;

	while (top >= 0 && (name = next_name(&names, &at)))
		if (*name == '{')
			(void)dirtree_walk(top, name, move_entry, &m, NULL);
	return m.count;
}
