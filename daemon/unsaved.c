/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unsaved.h"

#include "base/error.h"
#include "base/log.h"
#include "collect/collector.h"

#include <errno.h>
#include <inttypes.h>

/* The number of samples so far that could not be written. */
static uint64_t unwritten(const struct collector *c)
{
	struct driver_stats driver;
	struct record_stats record;

	collector_stats(c, &driver, &record);
	return record.lost_samplefile;
}

void unsaved_say(struct unsaved *u, const struct collector *c)
{
	uint64_t now = unwritten(c);

	if (now <= u->said * 10)
		return;
	log_error("%" PRIu64 " samples so far could not be written to sample files; see the errors "
		  "above",
		  now);
	u->said = now;
}

int unsaved_stop(struct unsaved *u, struct collector *c, struct error *err)
{
	uint64_t before = unwritten(c);
	int r = collector_stop(c, err);

	u->is_rest = r < 0;
	u->lost = unwritten(c) - before;
	if (r == 0 && u->lost)
		r = error_set(err, -EIO,
			      "%" PRIu64 " samples could not be written to sample files; see the "
			      "daemon's log",
			      u->lost);
	return r;
}

/* Says it again if a session was removed: the log may have been, too. */
static bool say_removed(const struct collector *c)
{
	uint64_t samples;
	bool was_removed = collector_was_removed(c, &samples);

	if (was_removed)
		log_error("%" PRIu64 " samples are lost: their session was removed while it was "
			  "written",
			  samples);
	return was_removed;
}

bool unsaved_end(struct unsaved *u, struct collector *c)
{
	const uint64_t before = unwritten(c);
	struct error err = ERROR_INIT;
	bool was_removed = say_removed(c);

	if (collector_reopen(c, &err) < 0)
		log_error("%s; the daemon ends without that", err.text);
	u->is_rest = err.code < 0;
	u->lost += unwritten(c) - before;
	return !u->is_rest && !u->lost && !was_removed;
}
