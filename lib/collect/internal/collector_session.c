/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a session, and the begin of the next one. */
#include "collect/collector.h"

#include "base/log.h"
#include "base/mem.h"
#include "collect/internal/collector_state.h"
#include "helper/errands.h"
#include "record/record.h"
#include "sfile/session.h"
#include "sfile/setup.h"

#include <errno.h>
#include <stdlib.h>

/* What becomes of the session whose files are closed, and the next one. It takes long if there are
 * many files, or if the disk is busy. */
struct change {
	struct errand errand;
	const char *session_dir, *session_name;
	const char *saved_as; /* NULL: it is removed */
	bool is_removed;      /* by somebody else */
	bool has_ended;	      /* it was being sampled until now */
	struct record *record;
	char *driver;	  /* of the next one */
	int left, begun;  /* 0 or -errno: it is saved or removed; the next one has a setup */
	struct error why; /* of the one that failed */
};

static int save(struct change *ch)
{
	_cleanup_free_ char *samples = session_samples(ch->session_dir, ch->saved_as);
	/* A rename needs no space: the session is as safe under its name as it was. */
	int r = session_rename(ch->session_dir, ch->session_name, ch->saved_as, &ch->why);

	if (r == 0 && ch->has_ended)
		(void)setup_end(samples, NULL); /* on a full disk it has no end */
	return r;
}

static void change(struct errand *e)
{
	struct change *ch = (struct change *)e;

	if (!ch->is_removed)
		ch->left = ch->saved_as
				   ? save(ch)
				   : session_set_aside(ch->session_dir, ch->session_name, &ch->why);
	if (ch->left == 0)
		ch->begun = record_write_setup(ch->record, ch->driver, &ch->why);
	/* On a full disk there is room when the files of the last session are gone. */
	if (ch->begun < 0 && !ch->saved_as && collector_can_go_on(ch->begun) &&
	    session_clear(ch->session_dir, NULL) == 0)
		ch->begun = record_write_setup(ch->record, ch->driver, &ch->why);
	/* Nothing is recorded meanwhile. */
	if (ch->left == 0 && ch->begun == 0 && ch->has_ended)
		record_prepare(ch->record);
}

static void drop(struct errand *e _unused_)
{
}

/* The removal of what sessions that were set aside have left. */
struct clearing {
	struct errand errand;
	char *session_dir;
	struct error why; /* code 0: all is removed */
};

static void drop_clearing(struct errand *e)
{
	struct clearing *clearing = (struct clearing *)e;

	free(clearing->session_dir);
	free(clearing);
}

static void clear(struct errand *e)
{
	struct clearing *clearing = (struct clearing *)e;

	(void)session_clear(clearing->session_dir, &clearing->why);
}

void collector_note_cleared(struct collector *c)
{
	struct errand *done;

	while (c->clearer && (done = errands_take(c->clearer))) {
		const struct error *why = &((struct clearing *)done)->why;

		if (why->code)
			log_warn("%s; some of a removed session is left", why->text);
		done->drop(done);
	}
}

void collector_end_clearing(struct collector *c)
{
	collector_note_cleared(c);
	errands_leave(c->clearer);
}

void collector_clear(struct collector *c)
{
	struct clearing *clearing;

	if (!c->clearer && errands_new(ERRANDS_FILES, &c->clearer, NULL) < 0)
		return; /* the next one does it */
	clearing = xcalloc(1, sizeof(*clearing));
	*clearing = (struct clearing){ .errand = { .run = clear, .drop = drop_clearing },
				       .session_dir = xstrdup(c->session_dir) };
	(void)errands_add(c->clearer, &clearing->errand);
}

/* Has a thread do it, and drains meanwhile. Without one, or if nothing is to be drained, it is done
 * here. */
static void change_beside(struct collector *c, struct change *ch)
{
	_cleanup_(errands_freep) struct errands *errands = NULL;
	uint64_t number = 0;

	if (c->running && errands_new(ERRANDS_KERNEL, &errands, NULL) == 0)
		number = errands_add(errands, &ch->errand);
	if (number)
		collector_drain_beside(c, errands, number);
	else
		change(&ch->errand);
}

/* Takes note of the session that has begun. Without room on the disk, its setup is written
 * later. */
static int note_begun(struct collector *c, const struct change *ch)
{
	quota_reset(c->quota);
	collector_forget_session(c);
	if (ch->begun == 0)
		collector_watch_session(c);
	c->setup_due = collector_can_go_on(ch->begun);
	if (!c->setup_due)
		return ch->begun;
	log_warn("%s: the next session starts when there is room; delete sessions that are no "
		 "longer needed (%s/samples)",
		 ch->why.text, c->session_dir);
	return 0;
}

/* Begins the next session. The last one is saved or, with @saved_as NULL, removed, unless it
 * was. */
static int replace_session(struct collector *c, const char *saved_as, bool is_removed,
			   struct error *err)
{
	_cleanup_free_ char *driver = xstrdup(c->ops->why(c->driver));
	struct change ch = { .errand = { .run = change, .drop = drop },
			     .session_dir = c->session_dir,
			     .session_name = c->session_name,
			     .saved_as = saved_as,
			     .is_removed = is_removed,
			     .has_ended = c->running,
			     .record = c->record,
			     .driver = driver };
	int r;

	change_beside(c, &ch);
	if (!saved_as)
		collector_clear(c);
	r = ch.left < 0 ? ch.left : note_begun(c, &ch);
	return r < 0 ? error_set(err, r, "%s", ch.why.text) : 0;
}

int collector_reopen(struct collector *c, struct error *err)
{
	collector_note_driver(c);
	/* Whoever moved the session may also remove it. */
	if (collector_misses_session(c))
		collector_forget_session(c);
	return record_close_files(c->record, err);
}

/* Records what waited meanwhile, before the slice that it was sampled in ends. Returns @r, or if
 * that is 0, -errno of a failure. */
static int take_held(struct collector *c, int r, struct error *err)
{
	const int held = collector_take_held(c, r < 0 ? NULL : err);

	return r < 0 ? r : held;
}

int collector_begin_next(struct collector *c, struct error *err)
{
	int r;

	collector_note_driver(c);
	r = record_close_files(c->record, err);
	if (r == 0 || collector_can_go_on(r))
		r = replace_session(c, NULL, true, err);
	else
		collector_forget_session(c);
	if (c->running)
		collector_begin_slice(c);
	return take_held(c, r, err);
}

/* Records all samples so far and closes the files of the session. Most of it is done in turns, in
 * which samples are drained. */
static int leave_session(struct collector *c, struct error *err)
{
	int r = c->running ? collector_dump(c, err) : 0;

	/* What could not be written is tried again below. */
	if (c->running && (r >= 0 || collector_can_go_on(r)))
		r = collector_catch_up(c, err);
	if (c->running && r >= 0)
		r = collector_drain_last(c, err);
	else if (!c->running)
		collector_note_driver(c);
	record_sync(c->record, true);
	collector_end_slice(c, SLICE_LAST);
	/* What is drained from now on is of the next slice. */
	if (c->running)
		collector_begin_slice(c);
	return r < 0 ? r : record_close_files(c->record, err);
}

/* The same, with all samples so far in the old one. */
static int change_session(struct collector *c, const char *saved_as, struct error *err)
{
	int r = leave_session(c, err);

	if (r == 0 || collector_can_go_on(r))
		r = replace_session(c, saved_as, false, err);
	return take_held(c, r, err);
}

int collector_reset(struct collector *c, struct error *err)
{
	return change_session(c, NULL, err);
}

int collector_save(struct collector *c, const char *name, struct error *err)
{
	int r = session_name_check(name, err);

	return r < 0 ? r : change_session(c, name, err);
}
