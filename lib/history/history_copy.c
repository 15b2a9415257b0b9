/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/history_copy.h"

#include "base/mem.h"
#include "file/path.h"
#include "history/history_kind.h"
#include "history/history_source.h"
#include "history/history_writer.h"
#include "history/internal/reading.h"

#include <errno.h>
#include <stdlib.h>

/* A sample file that was read. */
struct copied_file {
	bool is_judged, is_wanted;
	uint32_t number; /* in the copy, in ->epoch */
	uint32_t epoch;
};

struct copy {
	const struct history_copying *what;
	struct history_writer *to;
	struct copied_file *files; /* by number in the reading, from 0 on */
	size_t count, room;
	int status;
	struct error *err;
};

/* The number in the copy of file @i of the reading; 0: it is not wanted. */
static uint32_t number_there(struct copy *c, const struct reading *r, uint32_t i)
{
	const struct history_file *file = &r->files[i];
	const struct history_name about = { sname_of_parts(&file->name), *file->header };
	struct copied_file *f;

	if (i >= c->count) {
		size_t had = c->count;

		array_grow(&c->files, r->file_count, &c->room);
		for (c->count = r->file_count; had < c->count; had++)
			c->files[had] = (struct copied_file){ 0 };
	}
	f = &c->files[i];
	if (!f->is_judged)
		f->is_wanted = c->what->wanted(&about.name, c->what->data);
	f->is_judged = true;
	if (!f->is_wanted)
		return 0;
	if (f->epoch != history_writer_epoch(c->to))
		f->number = history_writer_file(c->to, &about);
	f->epoch = history_writer_epoch(c->to);
	return f->number;
}

static void copy_slice(struct reading *r, const struct slice *slice)
{
	struct copy *c = r->data;
	struct slice there = *slice;
	size_t count, i;
	_cleanup_free_ struct history_count *entries = tally_take(&r->tally, &count);

	if (c->status < 0)
		return;
	for (i = 0; i < count; i++) {
		uint32_t number = number_there(c, r, entries[i].file - 1);

		if (number)
			history_writer_count(c->to, number, entries[i].key, entries[i].count);
	}
	c->status = history_writer_end(c->to, &there, c->err);
}

/* Copies the sources of a level, without the generations that a finer one has: in the list, they
 * come first. */
static int copy_level(struct reading *r, struct history_source *list, size_t count,
		      unsigned int level, struct error *err)
{
	int status = 0;
	size_t i;

	r->taken = list;
	for (r->taken_count = 0; r->taken_count < count; r->taken_count++)
		if (list[r->taken_count].level >= level)
			break;
	for (i = r->taken_count; i < count && list[i].level == level && status == 0; i++) {
		status = level ? reading_segment(r, &list[i], err)
			       : reading_generation(r, &list[i], err);
		if (status == -EBADMSG) {
			r->damaged += list[i].bytes;
			status = 0;
		}
	}
	r->taken = NULL;
	return status;
}

/* Copies all levels, the coarsest first: a history is written in the order of time. */
static int copy_once(const char *dir, const char *to, struct copy *c, size_t *ret_damaged)
{
	_cleanup_(history_writer_freep) struct history_writer *writer = history_writer_new(to);
	struct reading r = { .dir = dir, .window = c->what->window, .each = copy_slice, .data = c };
	_cleanup_free_ struct history_source *list = NULL;
	size_t count = 0;
	int status = sources_list(dir, &history_flat, &list, &count, c->err);
	unsigned int level;

	c->to = writer;
	c->status = 0;
	c->count = 0;
	if (status < 0)
		return status;
	if (!count)
		return error_set(c->err, -ENOENT, "%s: has no history", dir);
	for (level = HISTORY_LEVELS; level > 0 && status == 0; level--)
		status = copy_level(&r, list, count, level - 1, c->err);
	*ret_damaged = r.damaged;
	free(r.files);
	reading_done(&r);
	return status == -ENOENT ? -EAGAIN : status ?: c->status;
}

int history_copy(const char *from, const struct history_copying *what, const char *to,
		 size_t *ret_damaged, struct error *err)
{
	_cleanup_free_ char *dir = path_join(from, HISTORY_DIRECTORY);
	_cleanup_free_ char *made = path_join(to, HISTORY_DIRECTORY);
	struct copy c = { .what = what, .err = err };
	int i, r = -EAGAIN;

	for (i = 0; i < SOURCES_TRIES_MAX && r == -EAGAIN; i++) {
		if (i)
			(void)path_remove_tree(made, NULL);
		r = copy_once(dir, to, &c, ret_damaged);
	}
	free(c.files);
	return r;
}
