/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the addresses of a call chain as the kernel writes them, innermost first: marks among them
 * say whether they are of the kernel or of user space. The words are borrowed from the record.
 *
 *	struct callchain c = { .words = words };
 *	struct callchain_frame f;
 *	while (callchain_next(&c, &f))
 *		printf("%d %#lx\n", f.kind, f.address);
 */
#pragma once

#include "base/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum callchain_kind {
	CALLCHAIN_LEAF_KERNEL, /* the sample itself, whose own address may be more precise */
	CALLCHAIN_LEAF_USER,
	CALLCHAIN_KERNEL,
	CALLCHAIN_ENTRY,  /* where user space entered the kernel: no return address */
	CALLCHAIN_CALLER, /* a return address in user space */
};

struct callchain_frame {
	enum callchain_kind kind;
	uint64_t address;
};

struct callchain {
	struct span words;
	uint64_t mark;	  /* the last one: the kind of what follows */
	size_t addresses; /* that were read, those of guests included */
	bool leaf_seen;	  /* the address of the sample */
	bool user_seen;	  /* an address in user space; set before if the sample is there */
};

/* Reads the next frame; false at the end. Leaves out the frames of guests and hypervisors, and
 * those of the kernel after those of user space: a task that left its CPU is counted where it
 * entered the kernel, not inside of it. */
bool callchain_next(struct callchain *c, struct callchain_frame *ret);
