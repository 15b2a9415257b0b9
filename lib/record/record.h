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

/* Parses "none,lib,library,kernel,thread,cpu,cgroup,all"; the bits, or -EINVAL. */
int record_separate_parse(const char *text, struct error *err);

/* What sample files are kept apart by, as record_separate_parse() takes it; caller frees. */
char *record_separation(const struct record *rec);

/* Totals of a run: name here and in stats/ (operf's names where they mean the same), the original's
 * line in the log. Every sample that came in is in "samples" or in exactly one of the lost_... and
 * "filtered"; but lost_samplefile is a part of "samples", as it was in the original: recorded are
 * samples - lost_samplefile. Samples of an extended feature are in none of these but
 * extended_lost; the feature counts them. stats/ also has "total_samples", all that came in. */
#define RECORD_STATS(X)                                                                            \
	X(sample_dumps, "Nr. sample dumps")                                                        \
	X(samples, "Nr. non-backtrace samples")                                                    \
	X(kernel_samples, "Nr. kernel samples")                                                    \
	X(lost_no_context, "Nr. lost samples (no kernel/user)")                                    \
	X(lost_kernel, "Nr. lost kernel samples")                                                  \
	X(incomplete_code, "Nr. incomplete code structs")                                          \
	X(lost_samplefile, "Nr. samples lost due to sample file open failure")                     \
	X(lost_no_mapping, "Nr. samples lost due to no permanent mapping")                         \
	X(lost_no_app_for_kernel_sample,                                                           \
	  "Nr. user context kernel samples lost due to no app info available")                     \
	X(lost_no_app_for_user_sample, "Nr. user samples lost due to no app info available")       \
	X(lost_counter, "Nr. samples lost due to a counter not in use")                            \
	X(filtered, "Nr. samples left out by the image filter")                                    \
	X(arcs_no_mapping, "Nr. backtraces skipped due to no file mapping")                        \
	X(chains_lost, "Nr. call chains that could not be stored")                                 \
	X(shed_chains, "Nr. call chains left out, as memory or disk ran short")                    \
	X(shed_jit, "Nr. samples in run-time code that was not looked up, likewise")               \
	X(shed_threads, "Nr. samples not told apart by thread or CPU, likewise")                   \
	X(shed_pauses, "Nr. pauses in sampling, likewise")                                         \
	X(extended_lost, "Nr. samples or counts of an extended feature lost")

struct record_stats {
#define X(name, text) uint64_t name;
	RECORD_STATS(X)
#undef X
	/* Samples with a call chain, by why it ends (enum evbuf_end): "chain_complete" and so on in
	 * stats/. They are samples as well. */
	uint64_t chain_ends[EVBUF_END_COUNT_];
};

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
/* All that came in, "total_samples". */
uint64_t record_stats_total(const struct record_stats *stats);
/* Writes @totals as the log has them, and then the statistics of the extended feature. */
void record_print_stats(const struct record *rec, const struct record_stats *totals, FILE *out);
/* Sample files open now; bytes mapped by them. */
size_t record_open_files(const struct record *rec, size_t *ret_mapped);
