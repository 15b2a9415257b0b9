/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the process table up to date: applies records of mmap, exec, fork and exit one by one, and
 * reads missing information from /proc. It owns the table; the caller embeds the structure.
 *
 *	sideband_init(&sideband, &(struct process_source){ root, cookies }, stats);
 *	sideband_read_all(&sideband, now_ns);		after the kernel began to record changes
 *	sideband_apply(&sideband, &record, now_ns);
 *	sideband_done(&sideband);
 */
#pragma once

#include "driver/driver.h"
#include "driver/perf/unrecorded.h"
#include "perf/perf_record.h"
#include "process/process_asked.h"
#include "process/process_read.h"

/* Every executed file has a cookie, although few are ever sampled. Without a limit, a machine that
 * builds and tests all day would collect them without end. */
enum { SIDEBAND_COOKIES_MIN = 16384 };

struct sideband {
	struct process_table processes;
	struct process_source from;
	struct process_reader *reader;
	struct unrecorded unrecorded;
	struct driver_stats *stats;
	uint32_t follow;     /* keep only this process and its descendants; 0: all */
	const pid_t *others; /* with it, borrowed */
	size_t other_count;
	struct process_asked asked; /* all of them, as they were when first read */
	bool follow_children;	    /* include descendants that it already has */
	bool await_exec;	    /* sample that process from its next exec on */
	uint64_t read_all_ns;	    /* when all of /proc was last read, 0: never */
	uint64_t read_next_ns;	    /* when it may be read again because records were lost */
	bool lost;		    /* they were, and it was not read since */
	uint64_t doubt_ns;    /* what was known of processes before may lack lost records; 0: no */
	uint64_t patience_ns; /* how long a process that is being read is waited for */
	uint64_t spent_ns;    /* on that, and on taking what was read, since sideband_tidy() */
	uint64_t turn_ns;     /* how long that may take in all */
	uint64_t usual_turn_ns;
	bool is_last_turn;     /* nothing else is waited for */
	bool reads_all;	       /* before sampling */
	bool may_wait, waits;  /* whether a sample may wait for the next turn; the last one does */
	bool looks_again;      /* samples may wait, and the next turn comes soon */
	size_t cookie_limit;   /* cookies in the table above which unused ones are forgotten */
	uint64_t pruned_ns;    /* when stale mappings were last looked for */
	bool kernel_changed;   /* kernel code came or went; the caller clears it */
	uint64_t module_count; /* directories in /sys/module */
};

/* Initialises an empty table. Borrows @from and @stats until sideband_done(). */
void sideband_init(struct sideband *s, const struct process_source *from,
		   struct driver_stats *stats);
/* Frees the table. */
void sideband_done(struct sideband *s);

/* Reads the current state of all processes, or all that are followed, from /proc. What takes long
 * is read when it is sampled. */
void sideband_read_all(struct sideband *s, uint64_t now_ns);

/* Applies a record that changes the process table or reports that such records were lost; ignores
 * others. @now_ns is the current time, not the record's. */
void sideband_apply(struct sideband *s, const struct perf_record *record, uint64_t now_ns);

/* The process @tgid with its mappings. If it is unknown, lacks what @tid must have, or records were
 * lost since it was known, it is read from /proc, but not repeatedly. NULL if it does not exist or
 * is not followed; or if ->waits: if ->may_wait, reading takes only part of a turn, and a second in
 * all. What takes longer is counted (sideband_unread). */
struct process *sideband_process(struct sideband *s, uint32_t tgid, uint32_t tid, uint64_t now_ns);
/* Reads the process again because it has no mapping where it ran. Returns whether it was read; if
 * not, it may be because of ->waits, as above. */
bool sideband_read_again(struct sideband *s, struct process *p, uint32_t tid, uint64_t now_ns);

/* Does the housekeeping between two syncs: forgets processes that are gone, and checks whether
 * kernel modules came or went. */
void sideband_tidy(struct sideband *s, uint64_t now_ns);

/* Forgets the cookies of files that were never sampled and are no longer mapped, if there are
 * many. */
void sideband_sweep(struct sideband *s);

/* Has all that is known of processes checked, as if records had been lost: those of a CPU were, or
 * were not made yet. */
void sideband_doubt(struct sideband *s, uint64_t now_ns);

/* Allows more time for reading processes, until sideband_tidy(): the last samples are handled, and
 * none can wait for the next turn. */
void sideband_finish(struct sideband *s);
