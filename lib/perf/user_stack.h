/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user registers and the copy of the user stack in a sample, as the unwinder reads them. The
 * copy is borrowed from the record.
 *
 *	struct user_stack u;
 *	if (user_stack_decode(&more, &u) > 0) {
 *		user_stack_frame(&u, &frame);
 *		struct unwind_from from = { .read = user_stack_read, .data = &u, ... };
 *		unwind_chain(&frame, &from, pcs, depth, &count);
 *	}
 */
#pragma once

#include "base/span.h"
#include "bpf/unwind_step.h"

#include <stdbool.h>

/* perf_event_attr.sample_regs_user: the registers from which unwinding may start. */
#if defined(__x86_64__)
/* ax to ip, r8 to r15: asm/perf_regs.h */
#define USER_STACK_REGS 0xff01ffULL
#elif defined(__aarch64__)
/* x0 to x29, lr, sp, pc */
#define USER_STACK_REGS 0x1ffffffffULL
#else
#define USER_STACK_REGS 0ULL /* no tables for this machine */
#endif

enum { USER_STACK_REGS_MAX = 33 };

struct user_stack {
	enum unwind_machine machine;
	uint64_t regs[USER_STACK_REGS_MAX]; /* in the order of DWARF numbers, then the PC */
	size_t reg_count;
	uint64_t sp;	   /* address of the copy's first byte */
	struct span bytes; /* the copy */
	bool is_32_bit;	   /* an AArch32 process: there is nothing else then */
	bool in_user;	   /* set by the caller: the thread was not in the kernel */
};

/* Moves registers and stack from the front of @more to @ret. Returns 1; 0 if the sample has none (a
 * kernel thread, an AArch32 process); -EBADMSG. ->in_user is false. */
int user_stack_decode(struct span *more, struct user_stack *ret);
/* Stores the frame that user space was in. Its PC is that of the system call, or of the call of a
 * vsyscall, if the thread is in one. */
void user_stack_frame(const struct user_stack *u, struct unwind_frame *ret);
/* For struct unwind_from, whose data is a struct user_stack: reads the copy. */
int user_stack_read(void *data, __u64 address, __u64 *ret);
/* For struct unwind_from, too: reads a register. */
int user_stack_reg(void *data, __u32 reg, __u64 *ret);
