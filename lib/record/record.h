/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts words of the event buffer to counts in sample files. A table of handlers decodes the
 * words and updates the transient (who, where); each sample goes to the sample file that the
 * relevant fields of the transient select.
 *
 *	struct record *rec;
 *	record_new(&config, &rec, err);
 *	record_words(words, count, rec);	an evbuf_sink with rec as data
 *	record_flush(rec, true, err);			counters to stats/
 *	record_free(rec);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "stats/counters.h"
#include "stream/evbuf.h"
#include "event/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct attacher;
struct cookie_table;
struct driver;
struct driver_ops;
struct evderived;
struct hot_code;
struct record;
struct relief;
struct slice;
struct turn;

/* --separate, a set of bits. */
enum record_separate {
	RECORD_SEPARATE_NONE = 0,
	RECORD_SEPARATE_LIB = 1,    /* libraries, by application */
	RECORD_SEPARATE_KERNEL = 2, /* kernel and modules, too; implies LIB */
	RECORD_SEPARATE_THREAD = 4, /* by tgid and tid */
	RECORD_SEPARATE_CPU = 8,
	RECORD_SEPARATE_ALL = 15, /* as in OProfile 1.x: without those below */
	RECORD_SEPARATE_CGROUP = 16,
	RECORD_SEPARATE_COMM = 32 /* by the name of the thread */
};

/* Parses a list of none, lib, library, kernel, thread, cpu, cgroup, comm, all. Returns the bits or
 * -EINVAL. */
int record_separate_parse(const char *text);
/* The reverse: "library,thread", or "none"; caller frees. */
char *record_separate_text(unsigned int bits);

struct record_config {
	const char *session_dir, *session_name; /* borrowed for record_new() */
	const struct event *events;		/* index = counter in the event buffer; copied */
	size_t event_count;
	unsigned int separate; /* enum record_separate */
	const char *command;   /* what records, for the headers of reports; or NULL */
	const char *images;    /* only these application images, comma-separated; or NULL */
	const char *vmlinux;   /* kernel image with symbols; NULL: /proc/kallsyms */
	uint64_t kernel_start, kernel_end; /* its text; 0: from kallsyms */
	bool no_vmlinux;		   /* one image for all kernel addresses */
	const char *root;		   /* whose /proc is read */
	bool jit;			   /* the processes are live: look up their JIT code */
	const struct evderived *derived;   /* borrowed for record_new(); NULL: none */
	/* The driver, which receives how to unwind JIT code. It may change, and be none. */
	const struct driver_ops *const *ops;
	struct driver *const *driver;
	struct attacher *attacher;   /* asks Java's virtual machines; borrowed; NULL: nobody does */
	uint64_t jit_bytes_max;	     /* of memory, for JIT code; 0: default */
	size_t mapped_bytes_max;     /* of open sample files; 0: default */
	unsigned int open_files_max; /* 0: from the fd limit */
	uint64_t keep_ms;	     /* how long to keep the history; 0: there is none */
	uint64_t history_max;	     /* bytes of all of it; 0: no limit */
	const struct cookie_table *cookies; /* borrowed for the record's life */
	struct hot_code *hot;		    /* counts the samples, too; borrowed; or NULL */
	bool wanders;			    /* the sampling periods do */
	struct turn *turn; /* of the caller's loop, borrowed for the record's life; or NULL */
	/* Relieves the caller while files of the session are used; borrowed for the record's life,
	 * or NULL. What relieves it may use the cookies, but hold them (cookie_hold()). */
	struct relief *relief;
};

/* Prepares the session directory, kernel ranges and manifest. Caller frees. Returns 0 or -errno. */
int record_new(const struct record_config *config, struct record **ret, struct error *err);
/* Closes all sample files; NULL is fine. */
void record_free(struct record *rec);
DEFINE_CLEANUP(struct record *, record_free);

/* Creates the session's directory and writes to its "setup" what is sampled, by the driver that
 * @driver describes, for the headers of reports. Returns 0 or -errno. */
int record_write_setup(const struct record *rec, const char *driver, struct error *err);

/* Takes words of the event buffer; a record may be cut anywhere between calls. An evbuf_sink:
 * @data is the struct record. Always 0: what cannot be written is counted. */
int record_words(const uint64_t *words, size_t count, void *data);

/* The range of the kernel's own text; false if unknown. */
bool record_kernel_text(const struct record *rec, uint64_t *ret_start, uint64_t *ret_end);
/* Does slow work before samples of a session are recorded. */
void record_prepare(struct record *rec);
/* Called after each drain, once a turn of the loop: counts samples that waited for their JIT code,
 * with @all all of them, and does a part of what is due with sample files and images. */
void record_sync(struct record *rec, bool all);
/* Whether so much was counted since the last slice of the history that it should end early. */
bool record_slice_is_full(const struct record *rec);
/* Ends a slice of the history: what was counted since the last call. Nothing if there is no
 * history. 0 or -errno. */
int record_end_slice(struct record *rec, const struct slice *slice, struct error *err);
/* The first generation of the history in this hour (history_writer.h); 0: none. */
uint32_t record_generation(const struct record *rec);
/* Begins to note which images are used. record_drop_images() keeps these, even if nothing in the
 * session referred to them when the keeper looked. */
void record_note_images(struct record *rec);
/* Removes the images from the manifest that somebody listed since (sfile/manifest_unused.h). */
void record_drop_images(struct record *rec);
/* The first generation of the history of call chains that may still change. */
uint32_t record_live_chains(const struct record *rec);
/* Whether so many generations of it have ended, from @first on, that they should be packed. */
bool record_has_chains_since(const struct record *rec, uint32_t first);
/* Does a part of what is due with sample files and images, which record_sync() does as well.
 * Returns whether more is due: then call it again soon. */
bool record_tend(struct record *rec);
/* Begins to write all that was counted so far, and the JIT code that it is in. */
void record_begin_dump(struct record *rec);
/* Does a part of that in a turn of the loop; returns whether there is more. */
bool record_dump(struct record *rec);
/* Notes another counter for the next record_flush(): what it grew, from *@written to @now, which
 * *@written becomes. @name is borrowed. */
void record_note(struct record *rec, const char *name, uint64_t now, uint64_t *written);
/* Writes all counts to the sample files, and the counters to stats/ of the session: at once, or in
 * the next turns. 0 or -errno; what failed after the return is reported by the next call. */
int record_flush(struct record *rec, bool at_once, struct error *err);
/* Whether counters are still being written. */
bool record_is_writing(const struct record *rec);
/* What recording can shed; bits. */
enum record_shed {
	RECORD_SHED_CHAINS = 1, /* call chains */
	RECORD_SHED_JIT = 2,	/* looking up the names of JIT code */
	RECORD_SHED_THREADS = 4 /* separating threads and CPUs */
};
/* Sheds @what, and only that, from now on; what is shed is counted. */
void record_shed(struct record *rec, unsigned int what);
/* What shedding would free anything, as bits. */
unsigned int record_can_shed(const struct record *rec);
/* Counts a pause of sampling. */
void record_count_pause(struct record *rec);
/* Counts that something is no longer shed, as there is room again. */
void record_count_undone(struct record *rec);
/* Frees what is in memory to find call chains again, if there is a history: chains that come are
 * stored in other files. */
void record_end_pair(struct record *rec);
/* Closes the descriptors of the sample files, some at once and the others in the next turns. They
 * are opened again when needed. */
void record_yield_files(struct record *rec);
/* Has all sample files that are open now closed in the next turns, however they are used. */
void record_renew_files(struct record *rec);
/* Whether some of these are still open. */
bool record_renews(const struct record *rec);
/* Flushes and closes all sample files, so that the session's directory can be renamed or removed.
 * The next sample creates them again. */
int record_close_files(struct record *rec, struct error *err);

/* Totals since record_new(). */
void record_stats(const struct record *rec, struct record_stats *ret);
/* The sum of all samples that came in, "total_samples" in stats/. */
uint64_t record_stats_total(const struct record_stats *stats);
/* Samples that were counted, since record_new(): not those that wait for JIT code, or that found no
 * sample file. It never falls: what a file cannot take later is lost, but was counted. */
uint64_t record_counted(const struct record *rec);
/* Takes note that another session begins. */
void record_begin_session(struct record *rec);
/* After the files of the session were removed: counts the samples in them as lost, and has all
 * counters since the session began written again. Returns the number of these samples. */
uint64_t record_lose_session(struct record *rec);
/* Prints @totals for the log, and then the statistics of the extended feature. */
void record_print_stats(const struct record *rec, const struct record_stats *totals, FILE *out);
/* Bytes of memory for what is counted in this hour, besides sample files: the history and call
 * chains. */
size_t record_hour_memory(const struct record *rec);
/* Returns the number of open sample files; *@ret_mapped: the bytes that they map, and that
 * memory. */
size_t record_open_files(const struct record *rec, size_t *ret_mapped);
