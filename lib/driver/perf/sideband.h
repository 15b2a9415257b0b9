/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process table kept true: records of mmap, exec, fork and exit applied one by one, what is
 * missing read from /proc.
 *
 *	sideband_init(&sideband, &(struct process_source){ root, cookies }, stats);
 *	sideband_read_all(&sideband, now_ns);		after the kernel began to record changes
 *	sideband_apply(&sideband, &record, now_ns);
 *	sideband_done(&sideband);
 */
#pragma once

#include "driver/driver.h"
#include "perf/perf_record.h"
#include "process/process_read.h"

struct sideband {
	struct process_table processes;
	struct process_source from;
	struct driver_stats *stats;
	uint32_t follow;       /* only this process and its descendants are kept; 0: all */
	bool follow_children;  /* those too that it had before */
	bool await_exec;       /* that process is sampled from its next exec on */
	uint64_t read_all_ns;  /* when all of /proc was last read, 0: never */
	size_t cookie_limit;   /* of the table: when it has more, unused ones are forgotten */
	uint64_t pruned_ns;    /* when mappings that may be gone were last looked for */
	bool kernel_changed;   /* code came or went in the kernel; for the caller to clear */
	uint64_t module_count; /* directories in /sys/module */
};

/* An empty table. @from and @stats are borrowed until sideband_done(). */
void sideband_init(struct sideband *s, const struct process_source *from,
		   struct driver_stats *stats);
/* Frees the table. */
void sideband_done(struct sideband *s);

/* Reads all processes (of those that are followed) from /proc as they are now. */
void sideband_read_all(struct sideband *s, uint64_t now_ns);

/* Applies a record: of the process table, or one that says that such records were lost; others are
 * passed over. @now_ns is the time of handling, not the record's. */
void sideband_apply(struct sideband *s, const struct perf_record *record, uint64_t now_ns);

/* The process with its mappings; one that is not known, or has not what @tid must have, is read
 * from /proc, but not again and again. NULL if it is not there or not followed. */
struct process *sideband_process(struct sideband *s, uint32_t tgid, uint32_t tid, uint64_t now_ns);
/* Reads the process again because it has no mapping where it ran; whether it was read. */
bool sideband_read_again(struct sideband *s, struct process *p, uint32_t tid, uint64_t now_ns);

/* Between two syncs: forgets processes that are gone, sees whether modules came or went. */
void sideband_tidy(struct sideband *s, uint64_t now_ns);

/* Whether a process that is followed lives. */
bool sideband_any_followed(const struct sideband *s);
