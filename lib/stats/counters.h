/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counters of a profiling run: what was sampled, what was lost, and why. This table is the one
 * place that names them. Drivers and record count in the structs below; the files in stats/ of a
 * session, the log, opcontrol --status, the end of operf and the headers of reports read the rest
 * from here. All text is constant; what a function allocates, its caller frees.
 *
 *	const struct counter *c;
 *	for (size_t i = 0; (c = counter_at(i)); i++)
 *		if (c->kind == COUNTER_LOST)
 *			lost += counter_value(c, &driver, &record);
 */
#pragma once

#include "bpf/chain_end.h"

#include <stddef.h>
#include <stdint.h>

enum counter_kind {
	COUNTER_RECORDED, /* samples that are in the profile */
	COUNTER_LOST,	  /* samples that are missing from it */
	COUNTER_TROUBLE,  /* something else that makes the profile worse than it looks */
	COUNTER_INFO,	  /* neither */
};

/* Rows: name in stats/ and in the struct; kind; text in the log, after "Nr. "; text for people,
 * if it is not the log's; remedy, if there is one. The text of a COUNTER_LOST says why the samples
 * are missing, that of all others what is counted. */

/* Of the unwind tables that a driver has built. */
#define COUNTERS_OF_TABLES(X)                                                                      \
	X(unwind_built, INFO, "unwind tables built")                                               \
	X(unwind_build_ns, INFO, "nanoseconds spent building unwind tables")                       \
	X(unwind_none, INFO, "images without an unwind table")                                     \
	X(unwind_unopened, INFO, "images that could not be opened for their unwind table")         \
	X(unwind_put_off, TROUBLE,                                                                 \
	  "unwind tables postponed: reading files of their owner took too long",                   \
	  "unwind tables not built yet, because reading other files of their owner took too long") \
	X(unwind_evicted, INFO, "unwind tables evicted to free memory")                            \
	X(python_unknown, TROUBLE, "Python interpreters of an unknown version",                    \
	  "Python interpreters are of an unknown version: only their C functions are in chains")   \
	X(php_unknown, TROUBLE, "PHP interpreters of an unknown version, or with threads (ZTS)",   \
	  "PHP interpreters are of an unknown version, or with threads (ZTS): only their C "       \
	  "functions are in chains")                                                               \
	X(ruby_unknown, TROUBLE, "Ruby interpreters of an unknown version, or without symbols",    \
	  "Ruby interpreters are of an unknown version, or without symbols: only their C "         \
	  "functions are in chains")                                                               \
	X(java_unknown, TROUBLE,                                                                   \
	  "Java virtual machines whose structures are unknown, or that are not for x86-64",        \
	  "Java virtual machines have unknown structures, or are not for x86-64: call chains end " \
	  "in the code that they compiled",                                                        \
	  "run java with -XX:+PreserveFramePointer")                                               \
	X(unwind_partial, TROUBLE, "unwind tables without some rules: too many different ones",    \
	  "unwind tables have too many different rules, which cuts call chains short")             \
	X(unwind_refused, TROUBLE, "unwind tables not loaded: out of memory",                      \
	  "unwind tables did not fit into memory, which cuts call chains short",                   \
	  "raise --unwind-memory")                                                                 \
	X(unwind_moved_refused, TROUBLE,                                                           \
	  "pieces of moved text beyond what the kernel's table holds",                             \
	  "pieces of text that was moved to memory had no room, which cuts call chains short")     \
	X(unwind_moved_late, TROUBLE, "times that comparing moved text with its file was overdue", \
	  "times that comparing text that was moved to memory with its file was overdue")

/* How much time off the CPU varies, by event (counter_of_waits()). */
#define COUNTERS_OF_WAITS(X)                                                                       \
	X(offcpu_squares, INFO, "ms^2, the squares of all times off the CPU")                      \
	X(offcpu_squares_lock, INFO, "ms^2, the squares of all waits for locks")                   \
	X(offcpu_squares_io, INFO, "ms^2, the squares of all waits for input and output")          \
	X(offcpu_squares_sleep, INFO, "ms^2, the squares of all sleeps")                           \
	X(offcpu_squares_queue, INFO, "ms^2, the squares of all waits for a CPU")                  \
	X(offcpu_squares_fault, INFO, "ms^2, the squares of all waits for memory")                 \
	X(offcpu_squares_idle, INFO, "ms^2, the squares of all idle waits")

/* Of a driver, with those of its unwind tables: samples received = samples in the event buffer +
 * all sample_lost_no_... + sample_filtered; sample_lost_overflow is not in them, nor is
 * sample_lost_skipped, which is known of clocks only. All are sums of weights: sample_stretched of
 * those received were not taken, and others count for them (driver_ops.stretch). The driver bpf
 * copies what its program counts (struct sample_counters) in read_counters() of bpf.c. */
#define COUNTERS_OF_DRIVER(X)                                                                      \
	X(sample_received, INFO, "samples received")                                               \
	X(sample_stretched, TROUBLE, "samples skipped to stay within the CPU budget",              \
	  "samples skipped to stay within the CPU budget; the others are weighted accordingly")    \
	X(sample_lost_overflow, LOST, "samples lost: CPU buffer overflow",                         \
	  "the CPU buffers were full", "sample less often, or raise --cpu-buffer-size")            \
	X(sample_lost_skipped, LOST, "samples lost: another BPF program was running",              \
	  "another BPF program was running on their CPU")                                          \
	X(sample_lost_no_mapping, LOST, "samples lost due to no mapping",                          \
	  "their address was in no mapping")                                                       \
	X(sample_lost_no_mm, LOST, "samples lost due to no mm", "their process was not known")     \
	X(sample_lost_no_tree, LOST, "samples lost: the process's mappings could not be read",     \
	  "the mappings of their process could not be read")                                       \
	X(sample_lost_no_path, LOST, "samples lost: path of the file unknown",                     \
	  "the path of their file is unknown")                                                     \
	X(sample_lost_no_event, LOST, "samples lost: malformed, or of an unknown event",           \
	  "their record is malformed, or of an event that the file does not name")                 \
	X(sample_filtered, INFO, "samples of other processes, ignored")                            \
	X(sideband_lost, TROUBLE, "mapping records lost (resynchronised)",                         \
	  "mapping records lost; the mappings were read again")                                    \
	X(sideband_unread, TROUBLE, "times a process's mappings were not read again when due",     \
	  "times the mappings of a process were used that may lack lost records")                  \
	X(maps_unrecorded, TROUBLE, "mappings that changed without a record (mremap)",             \
	  "mappings changed without a record of the kernel (mremap): for some seconds, samples "   \
	  "there may have old names")                                                              \
	X(resync, INFO, "times the process table was read again")                                  \
	X(throttled, TROUBLE, "times the kernel throttled sampling", NULL, "sample less often")    \
	X(throttled_ns, INFO, "nanoseconds spent throttled")                                       \
	X(ibs_lost, TROUBLE,                                                                       \
	  "instruction-based samples that were malformed or could not be attributed")              \
	X(offcpu_intervals, INFO, "times a task was off the CPU")                                  \
	X(offcpu_lost, TROUBLE,                                                                    \
	  "off-CPU intervals that could not be attributed, or whose end was not seen")             \
	COUNTERS_OF_WAITS(X)                                                                       \
	X(waited_ns, INFO, "nanoseconds that events waited for a shared counter")                  \
	X(cpu_hotplug, INFO, "CPUs that came or went")                                             \
	X(path_ring_full, INFO, "times a path was reported late: ring full")                       \
	X(wakes_held, INFO, "files, executed or sampled first, that had to wait for a drain")      \
	X(path_truncated, TROUBLE, "paths cut short: too long, or too many names")                 \
	X(images_swept, INFO, "images forgotten because they were not sampled for long")           \
	X(follow_full, TROUBLE, "processes that could not be followed: table full")                \
	X(executables_full, TROUBLE, "processes whose program was not kept: table full",           \
	  "processes that are unknown when they exit, because more run than can be tracked")       \
	X(unwound_frames, INFO, "user-space frames looked up by the BPF program")                  \
	X(unwound_full, TROUBLE, "samples without their callers: too many call chains")            \
	X(script_no_thread, INFO,                                                                  \
	  "samples of an interpreter without frames: their thread runs none")                      \
	X(script_bad_frame, TROUBLE, "samples whose interpreted frames could not be read",         \
	  "samples whose interpreted frames could not be read: their chains lack some")            \
	X(script_bad_code, TROUBLE, "samples with an interpreted frame that has no function",      \
	  "samples with an interpreted frame that has no function: their chains lack some")        \
	X(script_unreadable, INFO, "times that an interpreted function had no name yet")           \
	X(script_ring_full, INFO, "times an interpreted function was reported late: ring full")    \
	X(unwind_code_refused, TROUBLE, "KiB of JIT code whose unwinding had no room",             \
	  "KiB of JIT code have no room for unwind rules, which cuts call chains short",           \
	  "raise --unwind-memory")                                                                 \
	X(unwind_code_dense, TROUBLE, "KiB of JIT code with too many different unwind rules",      \
	  "KiB of JIT code have too many different unwind rules, which may cut call chains short") \
	X(functions_kept, INFO, "files whose functions were kept")                                 \
	X(functions_put_off, INFO, "times that functions were not kept at once: too many")         \
	X(functions_failed, TROUBLE, "files whose functions could not be kept",                    \
	  "files whose functions could not be kept: without names once the file is gone")          \
	X(functions_evicted, INFO, "files whose functions were removed: directory full")           \
	X(lines_kept, INFO, "times that lines of hot functions were kept")                         \
	X(lines_put_off, INFO, "times that lines of hot functions were not kept at once")          \
	X(parser_lost, TROUBLE, "files skipped because they could not be parsed")                  \
	X(cost_ns, INFO, "nanoseconds of CPU time that sampling took")                             \
	X(cost_of_ns, INFO, "nanoseconds of all CPUs meanwhile")                                   \
	X(drains_late, INFO, "times the buffers were not drained for over 50 ms, for other work")  \
	X(bad_record, TROUBLE, "malformed records from the kernel")                                \
	X(perfdata_stacks, TROUBLE, "samples of perf with a copied stack, not walked",             \
	  "samples have a copy of their stack, which opimport does not walk: their chains have "   \
	  "no callers in user space",                                                              \
	  "record with perf record --call-graph=fp")                                               \
	X(perfdata_unknown, TROUBLE, "records of perf.data that were not understood",              \
	  "records of perf.data were skipped: opimport does not know their kind")                  \
	X(perfdata_cut, TROUBLE, "perf.data files that end too early",                             \
	  "perf.data file ends too early: what followed is missing")                               \
	COUNTERS_OF_TABLES(X)

/* Of record. Every sample that came in is in "samples", in "filtered" or in exactly one of the
 * COUNTER_LOST, except lost_samplefile, which is a part of "samples", as in OProfile 1.x: recorded
 * are samples - lost_samplefile. record_stats_total() adds up this table. Samples of an extended
 * feature are only in extended_lost, if lost; the feature counts them. */
#define COUNTERS_OF_RECORD(X)                                                                      \
	X(sample_dumps, INFO, "sample dumps")                                                      \
	X(samples, RECORDED, "non-backtrace samples")                                              \
	X(kernel_samples, INFO, "kernel samples")                                                  \
	X(lost_no_context, LOST, "lost samples (no kernel/user)",                                  \
	  "neither in the kernel nor in user space")                                               \
	X(lost_kernel, LOST, "lost kernel samples", "their address was in no part of the kernel")  \
	X(incomplete_code, TROUBLE, "incomplete code structs",                                     \
	  "incomplete records in the event buffer")                                                \
	X(lost_samplefile, LOST, "samples lost due to sample file open failure",                   \
	  "their sample file could not be written")                                                \
	X(lost_no_mapping, LOST, "samples lost due to no permanent mapping",                       \
	  "no permanent mapping for their address")                                                \
	X(lost_no_app_for_kernel_sample, LOST,                                                     \
	  "user context kernel samples lost due to no app info available",                         \
	  "in the kernel, for an unknown application")                                             \
	X(lost_no_app_for_user_sample, LOST, "user samples lost due to no app info available",     \
	  "their application was not known")                                                       \
	X(lost_counter, LOST, "samples lost due to a counter not in use",                          \
	  "their counter was not in use")                                                          \
	X(filtered, INFO, "samples left out by the image filter")                                  \
	X(arcs_no_mapping, TROUBLE, "callers skipped due to no file mapping",                      \
	  "call chains without mapping")                                                           \
	X(chains_lost, TROUBLE, "call chains that could not be stored")                            \
	X(shed_chains, TROUBLE, "call chains left out, as memory or disk ran short")               \
	X(shed_jit, TROUBLE, "samples in JIT code not looked up, as memory or disk ran short",     \
	  "samples in JIT code without names, as memory or disk ran short")                        \
	X(shed_threads, TROUBLE,                                                                   \
	  "samples not split by thread or CPU, as memory or disk ran short",                       \
	  "samples not split by thread or CPU, as memory or disk ran short")                       \
	X(shed_pauses, TROUBLE, "pauses in sampling, as memory or disk ran short",                 \
	  "times sampling paused, as memory or disk ran short")                                    \
	X(shed_undone, INFO, "times that recording was complete again after a shortage")           \
	X(jit_dropped, TROUBLE, "pieces of JIT code that were invalid or too many",                \
	  "pieces of JIT code have no names: invalid, or too many in one process")                 \
	X(jit_put_off, TROUBLE, "times that JIT code was not read further, for lack of memory",    \
	  "times that JIT code was not read further, for lack of memory", "raise --max-memory")    \
	X(java_maps, INFO, "times that a Java virtual machine wrote the names of its code")        \
	X(java_refused, TROUBLE, "times that a Java virtual machine wrote no names of its code",   \
	  "times that a Java virtual machine did not write the names of its code",                 \
	  "see --attach-java in oprofile(7)")                                                      \
	X(script_capped, TROUBLE, "interpreted functions without a place: too many in one file",   \
	  "interpreted functions are counted as (other functions): too many in one file")          \
	X(script_unnamed, TROUBLE, "interpreted functions without their file: too many files",     \
	  "interpreted functions are counted as [other files]: too many source files at a time")   \
	X(script_swept, INFO, "source files forgotten because they were not sampled for long")     \
	X(script_unwritten, TROUBLE, "times that interpreted functions could not be written",      \
	  "times that the names of a file's interpreted functions could not be written",           \
	  "free disk space")                                                                       \
	X(extended_lost, TROUBLE, "samples or counts of an extended feature lost")

/* Others that stats/ may have: the sum of all samples that came in; those of the original's daemon,
 * operf and kernel driver, of which oprofilefs shows some under their old names. */
#define COUNTERS_OF_SESSION(X)                                                                     \
	X(total_samples, INFO, "samples in all")                                                   \
	X(backtrace_aborted, TROUBLE, "call chains cut short")                                     \
	X(sample_invalid_eip, LOST, NULL, "their address was invalid")                             \
	X(event_lost_overflow, LOST, NULL, "the event buffer was full")                            \
	X(lost_no_app, LOST, NULL, "in the kernel, for an unknown application")                    \
	X(lost_invalid_domain, LOST, NULL, "their address was not in the range of its domain")     \
	X(lost_invalid_hypervisor_addr, LOST, NULL,                                                \
	  "their address was not in the range of the hypervisor")                                  \
	X(lost_records_by_kernel, LOST, NULL, "the kernel's buffers were full")                    \
	X(history, LOST, NULL, "a history has their number, not the reasons",                      \
	  "a report of the whole session has those")                                               \
	X(lost_bt_no_mapping, TROUBLE, "call chains without mapping")                              \
	X(bt_lost_no_mapping, TROUBLE, "call chains without mapping")                              \
	X(multiplex_counter, INFO, "times that events took turns")

/* Those that are also known by CPU, under the names that the original's kernel driver had: name;
 * text in the log, that of the original's daemon. */
#define COUNTERS_OF_CPU(X)                                                                         \
	X(sample_lost_overflow, "samples lost cpu buffer overflow")                                \
	X(sample_received, "samples received")                                                     \
	X(backtrace_aborted, "backtrace aborted")                                                  \
	X(sample_invalid_eip, "samples lost invalid pc")

struct unwind_counters {
#define X(name, ...) uint64_t name;
	COUNTERS_OF_TABLES(X)
#undef X
};

struct driver_stats {
#define X(name, ...) uint64_t name;
	COUNTERS_OF_DRIVER(X)
#undef X
};

/* Of the samples of an extended feature; only the log has them. Arrays are by enum ibs_kind. */
struct feature_stats {
	uint64_t ibs_samples[2], ibs_words[2], ibs_incomplete[2];
	uint64_t ibs_events; /* derived from these samples */
	uint64_t offcpu_us;
};

struct record_stats {
#define X(name, ...) uint64_t name;
	COUNTERS_OF_RECORD(X)
#undef X
	/* Samples with a call chain, by why it ends: "chain_complete" and so on in stats/. They are
	 * samples as well. */
	uint64_t chain_ends[CHAIN_END_COUNT_];
	struct feature_stats feature;
};

struct driver_cpu_stats {
#define X(name, ...) uint64_t name;
	COUNTERS_OF_CPU(X)
#undef X
};

enum counter_source {
	COUNTER_OF_DRIVER,  /* counted in struct driver_stats */
	COUNTER_OF_RECORD,  /* in struct record_stats */
	COUNTER_OF_CHAINS,  /* in ->chain_ends of struct record_stats */
	COUNTER_OF_SESSION, /* only in stats/ */
};

struct counter {
	const char *name;
	enum counter_source source;
	enum counter_kind kind;
	size_t offset;			 /* in the struct of its source */
	const char *log, *text, *remedy; /* as in the rows above; NULL: none */
};

/* The counters in the order of the log, by index; NULL past the last. */
const struct counter *counter_at(size_t i);
/* The counter called @name, or NULL. */
const struct counter *counter_find(const char *name);
/* The counter of the squares of the waits that @event, such as "OFFCPU_LOCK", counts; or NULL. */
const struct counter *counter_of_waits(const char *event);
/* Its value in the struct of its source; the other may be NULL. 0 of a COUNTER_OF_SESSION. */
uint64_t counter_value(const struct counter *c, const struct driver_stats *driver,
		       const struct record_stats *record);
/* Where it is in @stats, the struct of its source. */
uint64_t *counter_place(const struct counter *c, void *stats);
/* Its text with the remedy: "the CPU buffers were full; sample less often, ...". Caller frees. */
char *counter_meaning(const struct counter *c);
/* The same in words that can follow its value: "samples lost: the CPU buffers were full; ...".
 * Caller frees. */
char *counter_text(const struct counter *c, uint64_t value);
