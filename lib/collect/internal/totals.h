/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The statistics of a collector over all its drivers and records: those of earlier ones, which a
 * change of settings replaced, are added to those of the current ones. The caller embeds the
 * struct, all-zero at first.
 *
 *	totals_keep_driver(&t, ops, driver);	before it is shut down
 *	totals_keep_record(&t, rec);		before it is freed
 *	totals_add(&t, &driver_now, &record_now);
 *	totals_note(&t, &driver_now, rec);
 *	totals_done(&t);
 */
#pragma once

#include "stats/counters.h"

#include <stdio.h>

struct driver;
struct driver_ops;
struct record;

struct totals {
	/* Of the drivers and records that were replaced. */
	struct driver_stats driver;
	struct record_stats record;
	struct driver_cpu_stats *cpus;
	unsigned int cpu_count;
	struct driver_stats written; /* the part of all that was noted for stats/ */
	struct driver_stats begun;   /* that when the session began */
};

/* Frees the contents. */
void totals_done(struct totals *t);

/* Adds the statistics of a driver or a record that is about to end. */
void totals_keep_driver(struct totals *t, const struct driver_ops *ops,
			const struct driver *driver);
void totals_keep_record(struct totals *t, const struct record *rec);

/* Adds what was kept to the statistics of the current driver and record. */
void totals_add(const struct totals *t, struct driver_stats *driver, struct record_stats *record);
/* The same for one CPU. */
void totals_add_cpu(const struct totals *t, unsigned int cpu, struct driver_cpu_stats *stats);

/* Notes for @rec's next record_flush() what the driver's counters grew by since the last call. @now
 * is from totals_add(). */
void totals_note(struct totals *t, const struct driver_stats *now, struct record *rec);

/* Prints the driver's counters as lines of the log. */
void totals_print_driver(const struct driver_stats *driver, FILE *out);
