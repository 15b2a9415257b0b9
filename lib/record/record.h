/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Record: the event buffer's words become counts in sample files. Words go through a table of
 * handlers that change the transient (who, where); each sample goes to the sample file that the
 * transient's relevant fields select.
 *
 *	struct record *rec;
 *	record_new(&config, &rec, err);
 *	record_words(words, count, rec);	an evbuf_sink with rec as data
 *	record_flush(rec, err);			counters to stats/
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

struct cookie_table;
struct record;

/* --separate, a set of bits. */
enum record_separate {
	RECORD_SEPARATE_NONE = 0,
	RECORD_SEPARATE_LIB = 1,    /* libraries apart for each application */
	RECORD_SEPARATE_KERNEL = 2, /* kernel and modules too; implies LIB */
	RECORD_SEPARATE_THREAD = 4, /* by tgid and tid */
	RECORD_SEPARATE_CPU = 8,
	RECORD_SEPARATE_ALL = 15, /* as the original has it: without what follows */
	RECORD_SEPARATE_CGROUP = 16
};

/* Parses a list of none, lib, library, kernel, thread, cpu, cgroup, all; the bits, or -EINVAL. */
int record_separate_parse(const char *text);
/* The reverse: "library,thread", or "none"; caller frees. */
char *record_separate_text(unsigned int bits);

/* What sample files are kept apart by, as record_separate_text() has it; caller frees. */
char *record_separation(const struct record *rec);

struct record_config {
	const char *session_dir, *session_name; /* borrowed for record_new() */
	const struct event *events;		/* index = counter in the event buffer; copied */
	size_t event_count;
	unsigned int separate;		    /* enum record_separate */
	const char *images;		    /* only these application images, comma list; or NULL */
	const char *vmlinux;		    /* kernel image with symbols; NULL: /proc/kallsyms */
	uint64_t kernel_start, kernel_end;  /* its text; 0: from kallsyms */
	bool no_vmlinux;		    /* one image for all kernel addresses */
	const char *root;		    /* whose /proc is read */
	bool jit;			    /* live processes: learn what code they make */
	const char *ext_feature;	    /* "ibs:fetch:...|op:...", or NULL */
	size_t mapped_bytes_max;	    /* of open sample files; 0: default */
	unsigned int open_files_max;	    /* 0: from the fd limit */
	const struct cookie_table *cookies; /* borrowed for the record's life */
};

/* Makes it ready: session directory, kernel ranges, manifest. Caller frees; 0 or -errno. */
int record_new(const struct record_config *config, struct record **ret, struct error *err);
/* Closes all sample files; NULL is fine. */
void record_free(struct record *rec);
DEFINE_CLEANUP(struct record *, record_free);

/* Takes words of the event buffer; a record may be cut anywhere between calls. An evbuf_sink:
 * @data is the struct record. Always 0: what cannot be written is counted. */
int record_words(const uint64_t *words, size_t count, void *data);

/* Where the kernel's own text lies; false if that is not known. */
bool record_kernel_text(const struct record *rec, uint64_t *ret_start, uint64_t *ret_end);
/* Before sampling starts: does what would take long in the midst of it. */
void record_prepare(struct record *rec);
/* After each drain: counts the samples that waited to be placed, with @all all of them. */
void record_sync(struct record *rec, bool all);
/* Writes the counters to stats/ of the session; 0 or -errno. */
int record_flush(struct record *rec, struct error *err);
/* What recording can do without, bits. */
enum record_shed {
	RECORD_SHED_CHAINS = 1, /* call chains */
	RECORD_SHED_JIT = 2,	/* looking for names of code made at run time */
	RECORD_SHED_THREADS = 4 /* telling threads and CPUs apart */
};
/* Does without @what from now on, and only without that; what is left out is counted. */
void record_shed(struct record *rec, unsigned int what);
/* What leaving out would spare anything as the samples are. */
unsigned int record_can_shed(const struct record *rec);
/* Counts that sampling paused. */
void record_count_pause(struct record *rec);
/* Gives the descriptors of the sample files back; they are opened again when they are needed. */
void record_yield_files(struct record *rec);
/* Closes all sample files, so that the session's directory can be renamed or removed; the next
 * sample makes them anew. Flushes first. */
int record_close_files(struct record *rec, struct error *err);

/* Totals since record_new(). */
void record_stats(const struct record *rec, struct record_stats *ret);
/* The sum of all samples that came in, "total_samples" in stats/. */
uint64_t record_stats_total(const struct record_stats *stats);
/* Writes @totals as the log has them, and then the statistics of the extended feature. */
void record_print_stats(const struct record *rec, const struct record_stats *totals, FILE *out);
/* Sample files open now; bytes mapped by them. */
size_t record_open_files(const struct record *rec, size_t *ret_mapped);
