/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/stat_writer.h"

#include "base/mem.h"
#include "file/path.h"
#include "helper/errands.h"
#include "sfile/session.h"

#include <limits.h>
#include <stdlib.h>

struct growth {
	const char *name;
	uint64_t value;	  /* 0: written */
	bool is_unsynced; /* a value before is written, but may be lost in a power cut */
};

/* What the thread is given. */
struct batch {
	struct errand errand;
	const char *samples;
	struct growth *list;
	size_t count, room;
	int result;
	struct error why;
};

struct stat_writer {
	char *samples;
	struct errands *errands; /* NULL: nothing was written yet, or there is no thread for it */
	uint64_t number;	 /* of the batch that the thread has; 0: none */
	struct batch *noted;
};

static void free_batch(struct batch *b)
{
	free(b->list);
	free(b);
}

static void drop(struct errand *e)
{
	free_batch((struct batch *)e);
}

/* Adds what is not written. It is never added again, even if it may be lost in a power cut. */
static int add(const char *samples, struct growth *g, struct error *why)
{
	int r = g->value ? session_stat_add(samples, g->name, g->value, why) : 0;

	if (r < 0)
		return r;
	g->value = 0;
	g->is_unsynced |= r == PATH_UNSYNCED;
	return 0;
}

static int sync_name(const char *samples, struct growth *g, struct error *why)
{
	_cleanup_free_ char *path = xasprintf("%s/stats/%s", samples, g->name);
	int r = g->is_unsynced ? path_sync_parent(path) : 0;

	if (r < 0)
		return error_errno(why, r, "%s is written, but may be lost in a power cut", path);
	g->is_unsynced = false;
	return 0;
}

static void run(struct errand *e)
{
	struct batch *b = (struct batch *)e;

	/* One that fails does not hold up the others. The first error is reported. */
	for (size_t i = 0; i < b->count; i++) {
		struct growth *g = &b->list[i];
		struct error *why = b->result < 0 ? NULL : &b->why;
		int r = add(b->samples, g, why) ?: sync_name(b->samples, g, why);

		b->result = b->result ?: r;
	}
}

static struct batch *new_batch(const struct stat_writer *w)
{
	struct batch *b = xcalloc(1, sizeof(*b));

	b->errand = (struct errand){ .run = run, .drop = drop };
	b->samples = w->samples;
	return b;
}

struct stat_writer *stat_writer_new(const char *samples)
{
	struct stat_writer *w = xcalloc(1, sizeof(*w));

	w->samples = xstrdup(samples);
	w->noted = new_batch(w);
	return w;
}

void stat_writer_free(struct stat_writer *w)
{
	if (!w)
		return;
	errands_free(w->errands);
	free_batch(w->noted);
	free(w->samples);
	free(w);
}

static struct growth *growth_of(struct batch *b, const char *name)
{
	size_t i;

	for (i = 0; i < b->count && b->list[i].name != name; i++)
		;
	if (i == b->count) {
		array_grow(&b->list, b->count + 1, &b->room);
		b->list[b->count++] = (struct growth){ .name = name };
	}
	return &b->list[i];
}

void stat_writer_note(struct stat_writer *w, const char *name, uint64_t now, uint64_t *written)
{
	if (now > *written)
		growth_of(w->noted, name)->value += now - *written;
	*written = now;
}

/* Takes a batch back, and notes again what is not written. */
static int take_back(struct stat_writer *w, struct batch *b, struct error *err)
{
	int r = b->result;

	for (size_t i = 0; i < b->count; i++) {
		const struct growth *g = &b->list[i];
		struct growth *next =
			g->value || g->is_unsynced ? growth_of(w->noted, g->name) : NULL;

		if (next) {
			next->value += g->value;
			next->is_unsynced |= g->is_unsynced;
		}
	}
	if (r < 0)
		r = error_set(err, r, "%s", b->why.text);
	free_batch(b);
	return r;
}

/* Takes back what the thread is done with. */
static int settle(struct stat_writer *w, struct error *err)
{
	struct errand *e = w->errands ? errands_take(w->errands) : NULL;

	if (!e)
		return 0;
	w->number = 0;
	return take_back(w, (struct batch *)e, err);
}

int stat_writer_begin(struct stat_writer *w, struct error *err)
{
	struct batch *b = w->noted;
	int r = settle(w, err);

	if (w->number || !b->count)
		return r;
	w->noted = new_batch(w);
	if (w->errands || errands_new(ERRANDS_FILES, &w->errands, NULL) == 0) {
		w->number = errands_add(w->errands, &b->errand);
		return r;
	}
	run(&b->errand);
	return take_back(w, b, err);
}

bool stat_writer_is_busy(struct stat_writer *w)
{
	return w->number && errands_finished(w->errands) < w->number;
}

/* Waits for what the thread has. */
static int await(struct stat_writer *w, struct error *err)
{
	while (w->number && !errands_wait(w->errands, w->number, INT_MAX))
		;
	return settle(w, err);
}

void stat_writer_forget(struct stat_writer *w)
{
	(void)await(w, NULL);
	free_batch(w->noted);
	w->noted = new_batch(w);
}

/* Writes what is noted. */
static int write_noted(struct stat_writer *w, struct error *err)
{
	int r = stat_writer_begin(w, err);

	return r < 0 ? r : await(w, err);
}

int stat_writer_finish(struct stat_writer *w, struct error *err)
{
	(void)await(w, NULL);
	/* This may be the last time: what fails is tried again now. */
	return write_noted(w, NULL) < 0 ? write_noted(w, err) : 0;
}
