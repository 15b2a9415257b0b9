/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that comes and goes in a running kernel: modules, BPF programs, trampolines. Most of it
 * makes perf records, from which struct kernel_events collects the code that came. Each piece is
 * kept until the samples taken before it have been passed on, so that those are counted for the
 * code that was at the address then. The caller owns the struct.
 *
 *	struct kernel_events events = { 0 };
 *	struct kernel_code code;
 *
 *	if (kernel_events_read(record, cookies, &code) == KERNEL_EVENT_CODE)
 *		kernel_events_add(&events, &code);
 *	while (kernel_events_take(&events, at_ns, &code))
 *		evbuf_kernel_code(out, code.start, code.length, code.cookie);
 *	kernel_events_done(&events);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cookie_table;
struct perf_record;

/* Code that came into the kernel: a BPF program, a trampoline, a page of kprobes. */
struct kernel_code {
	uint64_t at_ns;		/* CLOCK_MONOTONIC; it did not run before */
	uint64_t start, length; /* bytes */
	uint64_t cookie;	/* of its name */
};

/* What a record says about code in the kernel. */
enum kernel_event {
	KERNEL_EVENT_NONE,
	KERNEL_EVENT_LOOK, /* read the kernel's lists again: records were lost, or another change */
	KERNEL_EVENT_CODE, /* code came; the record describes it, as it may soon be gone */
};

/* Whether modules came or went since the last call with the same *@count, initially 0. Modules make
 * no record, but the number of their directories shows most changes. */
bool kernel_events_modules_changed(const char *root, uint64_t *count);
/* What @r says; for KERNEL_EVENT_CODE the code is in *@ret. */
enum kernel_event kernel_events_read(const struct perf_record *r, struct cookie_table *cookies,
				     struct kernel_code *ret);

struct kernel_events {
	struct kernel_code *codes; /* by time */
	size_t count, room;
	size_t taken; /* how many of the first were taken */
};

/* Keeps @code. */
void kernel_events_add(struct kernel_events *e, const struct kernel_code *code);
/* How many of those kept had come by @at_ns: samples are sorted by this number. */
uint32_t kernel_events_epoch(const struct kernel_events *e, uint64_t at_ns);
/* Takes the first if it had come by @until_ns; false if there is none. */
bool kernel_events_take(struct kernel_events *e, uint64_t until_ns, struct kernel_code *ret);
/* Frees what it holds. */
void kernel_events_done(struct kernel_events *e);
