/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a driver and records its samples in one session: the core of operf and oprofiled.
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
#include "collect/quota.h"
#include "record/record.h"

struct attacher;
struct keeper;
struct strbuf;
struct opener;
struct parser;
struct turn;

enum { COLLECTOR_SYNC_MS = 250 };

struct collector_config {
	const char *driver;	     /* "auto", "bpf", "perf", "replay"; NULL: auto */
	struct driver_config drive;  /* the collector sets cookies, sink and sink_data */
	struct record_config record; /* it sets events, event_count, derived and cookies */
	uint64_t functions_max; /* bytes of functions kept (symbol/function_store.h); 0: none */
	const char *tee_path;	/* file that the event buffer is also written to, or NULL */
	bool measures_cost;	/* measure the cost of sampling */
	struct quota_limits quota;
	double cpu_budget; /* limit on the share of CPU time (driver/governor.h); 0: none */
	/* Reads files of other users (parser/parser.h); borrowed; NULL: this process reads them. */
	struct parser *parser;
	/* Opens them (identity/opener.h); borrowed; NULL: this process does, and may hang. */
	struct opener *opener;
	/* Rolls up the history (history/keeper.h); borrowed; NULL: it grows. */
	struct keeper *keeper;
	/* Asks Java's virtual machines for names (jit/attacher.h); borrowed; NULL: nobody does. */
	struct attacher *attacher;
	/* The turns of the caller's loop, whose stages are noted; borrowed, may be NULL. */
	struct turn *turn;
};

struct collector;
struct stream_outlet;

/* Locks and opens the session and sets up the driver, without sampling yet. Caller frees. Returns 0
 * or -errno; -EBUSY if the session has another writer. */
int collector_new(const struct collector_config *config, struct collector **ret, struct error *err);
/* Shuts down the driver and closes the session; NULL is fine. */
void collector_free(struct collector *c);
DEFINE_CLEANUP(struct collector *, collector_free);

/* Changes the configuration while stopped, for the same session. Cookies keep their meaning and
 * totals continue. Without @may_load no other BPF program is loaded: if one is needed, "auto"
 * becomes the driver without a program, and any other driver fails with -EPERM. Returns 0 or
 * -errno; -EBUSY while it runs or the event buffer is recorded. After a failure the old
 * configuration applies; if the session could not be opened again, collector_change() must succeed
 * before the next start. */
int collector_change(struct collector *c, const struct collector_config *config, bool may_load,
		     struct error *err);

/* Returns whether the driver uses collector_expect(). */
bool collector_expects(const struct collector *c);
/* Announces, before the first collector_start(), that the target will run code of the open file
 * @fd. */
void collector_expect(struct collector *c, int fd);

/* From now on another thread drains, for a caller with turns, while the calling thread waits for a
 * disk. It calls @enter first, and @drained each time it has drained (both may be NULL), and has
 * the rights of the calling thread. 0 or -errno. */
int collector_relieve(struct collector *c, void (*enter)(void), void (*drained)(void *data),
		      void *data, struct error *err);
/* Starts sampling, also after collector_stop(). Returns 0 or -errno. */
int collector_start(struct collector *c, struct error *err);
/* Stops sampling and records all samples. Returns 0 or -errno. */
int collector_stop(struct collector *c, struct error *err);
/* Records the samples taken until a moment ago. With @all, records those until now and writes the
 * counters to stats/. Returns 0; 1 if the source has ended; or -errno. */
int collector_sync(struct collector *c, bool all, struct error *err);

/* As collector_sync() with @all, but drains samples while it writes, each time a sync is due. What
 * was sampled before is written then, and perhaps more. */
int collector_dump(struct collector *c, struct error *err);

/* Returns whether sampling can continue after collector_sync() failed with @code, such as a full
 * disk. Samples that could not be written meanwhile are counted. */
bool collector_can_go_on(int code);

/* Does some of the work that collector_sync() left, in some milliseconds. Returns whether there is
 * more: then call it again soon. */
bool collector_tend(struct collector *c);
/* A descriptor that becomes readable when a sync is due early; -1 if there is none. */
int collector_fd(const struct collector *c);
/* Returns whether it is sampling. */
bool collector_running(const struct collector *c);
/* The opened events; borrowed. */
const struct event *collector_events(const struct collector *c, size_t *ret_count);
/* The driver's name; borrowed. */
const char *collector_driver(const struct collector *c);
/* One line: which driver, and why; borrowed. */
const char *collector_why(const struct collector *c);
/* Totals since collector_new(). */
void collector_stats(const struct collector *c, struct driver_stats *driver,
		     struct record_stats *record);
/* The totals of one CPU; all 0 if the driver does not count by CPU. */
void collector_cpu_stats(const struct collector *c, unsigned int cpu, struct driver_cpu_stats *ret);
/* Also sends the event buffer to @outlet, which is borrowed, until called with NULL. */
void collector_set_outlet(struct collector *c, struct stream_outlet *outlet);
/* The images of the cookies in the event buffer; borrowed. */
const struct cookie_table *collector_cookies(const struct collector *c);
/* Reads the cost of sampling and how far it is stretched; all zero if it is not measured. */
void collector_cost(const struct collector *c, struct governor_reading *ret);
/* Adds to @out what is wrong with the upkeep of the history, if anything is. */
void collector_history_trouble(const struct collector *c, struct strbuf *out);
/* Reads the use of memory, disk and descriptors, and what is shed to limit it. */
void collector_quota(const struct collector *c, struct quota_reading *ret);
/* Returns the size of the functions kept in the session directory, in bytes. */
uint64_t collector_functions(const struct collector *c);
/* As record_hour_memory(). */
size_t collector_hour_memory(const struct collector *c);
/* Returns the number of open sample files; *@ret_mapped: the bytes that they map. */
size_t collector_open_files(const struct collector *c, size_t *ret_mapped);
/* Prints the statistics section of the log. */
void collector_print_stats(const struct collector *c, FILE *out);

/* Whether the session directory was removed and made again since the last call, with nothing in it
 * but what the collector keeps there. */
bool collector_made_again(struct collector *c);
/* Whether a session was removed while it was written; *@ret_samples are lost with it. */
bool collector_was_removed(const struct collector *c, uint64_t *ret_samples);
/* Deletes the samples of the current session and starts an empty one. Returns 0 or -errno. */
int collector_reset(struct collector *c, struct error *err);
/* Renames the current session to @name and starts an empty one. Returns 0 or -errno; -EEXIST if
 * @name exists. */
int collector_save(struct collector *c, const char *name, struct error *err);
/* Closes all sample files, for example after they were moved; the next sample opens or creates them
 * again. Returns 0 or -errno. */
int collector_reopen(struct collector *c, struct error *err);
