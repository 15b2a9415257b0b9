/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a session, and the begin of the next one. */
#include "collect/collector.h"

#include "base/log.h"
#include "collect/internal/collector_state.h"
#include "record/record.h"
#include "sfile/session.h"
#include "sfile/setup.h"

#include <errno.h>

int collector_reopen(struct collector *c, struct error *err)
{
	collector_note_driver(c);
	return record_close_files(c->record, err);
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
	if (c->running)
		(void)setup_end(c->samples, NULL);
	return r < 0 ? r : record_close_files(c->record, err);
}

/* Ends what leave_session() began: what waits may be recorded. Returns @r. */
static int go_on(struct collector *c, int r)
{
	c->intake.holds = false;
	return r;
}

/* Starts an empty session. If the disk is too full to write its setup, that is done later. */
static int begin_session(struct collector *c, struct error *err)
{
	int r = record_write_setup(c->record, c->ops->why(c->driver), err);

	if (c->running)
		collector_begin_slice(c);
	quota_reset(c->quota);
	c->setup_due = collector_can_go_on(r);
	if (!c->setup_due)
		return r;
	log_warn("%s: the next session starts when there is room; delete sessions that are no "
		 "longer needed (%s/samples)",
		 err ? err->text : "the disk is full", c->session_dir);
	return 0;
}

int collector_reset(struct collector *c, struct error *err)
{
	int r = leave_session(c, err);

	if (r == 0 || collector_can_go_on(r))
		r = session_remove(c->session_dir, c->session_name, err);
	return go_on(c, r < 0 ? r : begin_session(c, err));
}

int collector_save(struct collector *c, const char *name, struct error *err)
{
	int r;

	if (!session_name_valid(name))
		return error_set(err, -EINVAL, "'%s' is not a valid session name", name);
	r = leave_session(c, err);
	/* A rename needs no space: the session is as safe under its name as it was. */
	if (r == 0 || collector_can_go_on(r))
		r = session_rename(c->session_dir, c->session_name, name, err);
	return go_on(c, r < 0 ? r : begin_session(c, err));
}
