/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A driver and a record joined over one session: all that operf and oprofiled are fronts of.
 *
 *	struct collector *c;
 *	if (collector_new(&config, &c, err) < 0 || collector_start(c, err) < 0) ...
 *	while (!stop) {
 *		poll(&(struct pollfd){ collector_fd(c), POLLIN }, 1, COLLECTOR_SYNC_MS);
 *		if (collector_sync(c, false, err) != 0)
 *			break;
 *	}
 *	collector_stop(c, err);
 *	collector_free(c);
 */
#pragma once

#include "driver/driver.h"
#include "driver/governor.h"
#include "record/quota.h"
#include "record/record.h"

struct parser;

enum { COLLECTOR_SYNC_MS = 250 };

struct collector_config {
	const char *driver;	     /* "auto", "bpf", "perf", "replay"; NULL: auto */
	struct driver_config drive;  /* cookies, sink and sink_data are the collector's to fill */
	struct record_config record; /* events, event_count and cookies likewise */
	const char *tee_path;	     /* the event buffer is also written here, or NULL */
	bool measures_cost;	     /* what sampling costs is measured */
	struct quota_limits quota;
	double cpu_budget; /* the share of each CPU's time to keep to (driver/governor.h); 0: any */
	/* Reads what others wrote (parser/parser.h); borrowed, NULL: this process does. */
	struct parser *parser;
};

struct collector;
struct stream_outlet;

/* Locks and opens the session, sets the driver up; nothing counts yet. Caller frees. 0 or -errno:
 * -EBUSY if another writer has the session. */
int collector_new(const struct collector_config *config, struct collector **ret, struct error *err);
/* Shuts the driver down, closes the session; NULL is fine. */
void collector_free(struct collector *c);
DEFINE_CLEANUP(struct collector *, collector_free);

/* Sets it up anew, stopped, with another configuration for the same session; cookies keep their
 * meaning, totals go on. Without @may_load no other program is loaded: where one would have to
 * be, "auto" becomes the driver that needs none, and another is refused with -EPERM. 0 or
 * -errno: -EBUSY while it runs or the event buffer is recorded. After a failure it samples as
 * before, or, where the session could not be opened again, has to be changed once more before it
 * starts. */
int collector_change(struct collector *c, const struct collector_config *config, bool may_load,
		     struct error *err);

/* Whether the driver makes ready for files that it is told of; and tells it, before the first
 * collector_start(), that what is sampled will run code of the file open as @fd. */
bool collector_expects(const struct collector *c);
/* Says, before the first collector_start(), that the target will run code of the open file @fd. */
void collector_expect(struct collector *c, int fd);

/* Starts, or after collector_stop() starts again, to sample. 0 or -errno. */
int collector_start(struct collector *c, struct error *err);
/* Stops and records all that was sampled. 0 or -errno. */
int collector_stop(struct collector *c, struct error *err);
/* Records what has been sampled up to a moment ago, or with @all up to now, then also writes the
 * counters to stats/. 0; 1 if the source has ended; -errno. */
int collector_sync(struct collector *c, bool all, struct error *err);

/* Whether sampling can go on after collector_sync() failed with @code: a full disk or the like,
 * which may pass. What could not be written meanwhile is counted. */
bool collector_can_go_on(int code);

/* Polls readable when a sync is due early; -1 if never. */
int collector_fd(const struct collector *c);
/* Whether it samples now. */
bool collector_running(const struct collector *c);
/* The events as opened; borrowed. */
const struct event *collector_events(const struct collector *c, size_t *ret_count);
/* The driver's name; borrowed. */
const char *collector_driver(const struct collector *c);
/* One line: which driver, and why; borrowed. */
const char *collector_why(const struct collector *c);
/* Totals since collector_new(). */
void collector_stats(const struct collector *c, struct driver_stats *driver,
		     struct record_stats *record);
/* Those of one CPU; all 0 where the driver does not know them. */
void collector_cpu_stats(const struct collector *c, unsigned int cpu, struct driver_cpu_stats *ret);
/* Has the event buffer go to @outlet as well, which stays the caller's; NULL ends that. */
void collector_set_outlet(struct collector *c, struct stream_outlet *outlet);
/* The images that cookies in the event buffer stand for; borrowed. */
const struct cookie_table *collector_cookies(const struct collector *c);
/* What sampling costs, and how far it is stretched for that; all zero where that is not measured.
 */
void collector_cost(const struct collector *c, struct governor_reading *ret);
/* What it uses of memory, disk and descriptors, and what it does without for that. */
void collector_quota(const struct collector *c, struct quota_reading *ret);
/* Sample files open now; in *@ret_mapped the bytes that they map. */
size_t collector_open_files(const struct collector *c, size_t *ret_mapped);
/* The statistics section of the log. */
void collector_print_stats(const struct collector *c, FILE *out);

/* Removes what the current session holds and goes on with an empty one. 0 or -errno. */
int collector_reset(struct collector *c, struct error *err);
/* Renames the current session to @name and goes on with an empty one; -EEXIST if there is one. */
int collector_save(struct collector *c, const char *name, struct error *err);
/* Closes all sample files; the next sample makes or opens them anew, as after somebody moved them.
 * 0 or -errno. */
int collector_reopen(struct collector *c, struct error *err);
