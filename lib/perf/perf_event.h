/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening perf events: which attributes the sampling and counting events and the sideband event
 * have, and which of those a kernel may refuse without harm.
 *
 *	struct perf_attrs attrs = { .inherit = true };
 *	int fd = perf_event_open_sampling(&attrs, &event, pid, cpu);
 */
#pragma once

#include "event/event.h"

#include <sys/types.h>

struct perf_event_attr;

/* What opens an event; the descriptor or -errno. */
typedef int perf_opener(const struct perf_event_attr *attr, pid_t pid, int cpu, void *data);

/* What all events of a run have in common. The refused ones are found out by the first opening. */
struct perf_attrs {
	bool inherit;	     /* children of the process are sampled too */
	bool enable_on_exec; /* sampling begins when the process executes something */
	size_t sample_bytes; /* of the rings: when half full, they wake the reader */
	size_t sideband_bytes;
	uint16_t chain_depth; /* addresses of a sample's call chain; 0: none is taken */
	uint32_t stack_bytes; /* of user space's stack copied with registers for chains, in whose
			       * place the call chain is the kernel's part alone; 0: none */
	bool sample_cgroup;   /* samples carry the number of their cgroup */
	bool report_cgroups;  /* new ones are reported */
	bool kernel_only;     /* of the sideband: changes of kernel code alone, not of processes */
	perf_opener *open;    /* in the place of the kernel, for tests; NULL: the kernel */
	void *open_data;
	bool no_exclude_guest; /* refused: */
	bool no_format_lost;
	bool no_user_stack; /* refused, or no tables for this machine: frame pointers instead */
	bool no_ksymbol;
};

/* Opens @event for @pid (-1: all) on @cpu, disabled; the descriptor, which the caller closes, or
 * -errno. */
int perf_event_open_sampling(struct perf_attrs *attrs, const struct event *event, pid_t pid,
			     unsigned int cpu);
/* Opens the event that counts nothing but reports mmap, exec, fork, exit and changes of kernel
 * code; likewise. */
int perf_event_open_sideband(struct perf_attrs *attrs, pid_t pid, unsigned int cpu);

/* Opens the event that reports every context switch on @cpu; likewise. */
int perf_event_open_switches(const struct perf_attrs *attrs, unsigned int cpu);
/* Opens the event that samples each task that leaves @cpu, with the call chain that samples have,
 * and the kernel's in any case; likewise. */
int perf_event_open_leaving(const struct perf_attrs *attrs, pid_t pid, unsigned int cpu);

/* Opens @event for counting alone, disabled, @cpu may be -1 for all; likewise. What is read from it
 * is three words: the count, the nanoseconds enabled, those of them on a counter. */
int perf_event_open_counting(struct perf_attrs *attrs, const struct event *event, pid_t pid,
			     unsigned int cpu);

/* For how long the event of a sideband has been enabled in all, by the clock of its CPU; 0:
 * unknown.
 */
uint64_t perf_event_enabled_ns(int fd);

struct perf_event_losses {
	uint64_t samples;   /* that it could not write, 0 where the kernel does not tell */
	uint64_t waited_ns; /* while others had its counter, 0 of a task's event */
};

/* What the event @fd, opened for sampling, missed so far. */
struct perf_event_losses perf_event_lost(const struct perf_attrs *attrs, int fd);
