/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens perf events for sampling, for counting and for the sideband (mmap, fork, exit and so on).
 * Sets their attributes, and drops those that the kernel refuses and that are not essential.
 *
 *	struct perf_attrs attrs = { .inherit = true };
 *	int fd = perf_event_open_sampling(&attrs, &event, pid, cpu);
 */
#pragma once

#include "event/event.h"

#include <sys/types.h>

struct perf_event_attr;

/* Opens an event; returns the descriptor or -errno. */
typedef int perf_opener(const struct perf_event_attr *attr, pid_t pid, int cpu, void *data);

/* Settings common to all events of a run. The first open finds out what the kernel refuses. */
struct perf_attrs {
	bool inherit;	     /* children of the process are sampled too */
	bool enable_on_exec; /* sampling begins when the process executes something */
	size_t sample_bytes; /* ring sizes: the reader is woken when one is half full, or earlier */
	size_t sideband_bytes;
	uint16_t chain_depth; /* addresses of a sample's call chain; 0: none is taken */
	uint32_t stack_bytes; /* of the user stack copied, with registers, for unwinding; the call
			       * chain then has the kernel's part only; 0: none */
	bool sample_cgroup;   /* samples carry the number of their cgroup */
	bool report_cgroups;  /* new cgroups are reported */
	bool kernel_only;     /* the sideband reports changes of kernel code, not of processes */
	perf_opener *open;    /* replaces the kernel in tests; NULL: the kernel */
	void *open_data;
	bool no_exclude_guest; /* refused: */
	bool no_format_lost;
	bool no_user_stack; /* refused, or no tables for this machine: frame pointers instead */
	bool no_ksymbol;
};

/* Opens @event for @pid (-1: all) on @cpu, disabled; this and the open functions below return the
 * descriptor, which the caller closes, or -errno. */
int perf_event_open_sampling(struct perf_attrs *attrs, const struct event *event, pid_t pid,
			     unsigned int cpu);
/* Opens the event that counts nothing but reports mmap, exec, fork, exit and changes of kernel
 * code. */
int perf_event_open_sideband(struct perf_attrs *attrs, pid_t pid, unsigned int cpu);

/* Opens the event that reports every mapping of code on @cpu, and wakes the reader for each; it is
 * disabled. */
int perf_event_open_mappings(const struct perf_attrs *attrs, unsigned int cpu);

/* Opens the event that reports every context switch on @cpu. */
int perf_event_open_switches(const struct perf_attrs *attrs, unsigned int cpu);
/* Opens the event that samples each task that leaves @cpu, with the call chain that samples have,
 * and always with the kernel's part of it. */
int perf_event_open_leaving(const struct perf_attrs *attrs, pid_t pid, unsigned int cpu);

/* Opens @event for counting only, disabled; @cpu may be -1 for all. A read returns three words: the
 * count, the nanoseconds enabled, and the nanoseconds on a counter. */
int perf_event_open_counting(struct perf_attrs *attrs, const struct event *event, pid_t pid,
			     unsigned int cpu);

/* The total time the sideband event has been enabled, by the clock of its CPU; 0: unknown. */
uint64_t perf_event_enabled_ns(int fd);

struct perf_event_losses {
	uint64_t counted;   /* events, so far */
	uint64_t samples;   /* that the kernel could not write; 0 if it does not report them */
	uint64_t waited_ns; /* while other events used its counter; 0 for a task's event */
};

/* What the event @fd, opened for sampling, counted and missed so far. */
struct perf_event_losses perf_event_lost(const struct perf_attrs *attrs, int fd);
