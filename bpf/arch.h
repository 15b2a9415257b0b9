/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs from architecture to architecture: the registers that a sample comes with. They are
 * the kernel's user interface (asm/ptrace.h), whose header does not know that it is compiled for
 * another target. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#if defined(__TARGET_ARCH_x86)

struct cpu_registers {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	__u64 ip, cs, flags, sp, ss;
};

static __always_inline bool registers_in_user(const struct cpu_registers *r)
{
	return (r->cs & 3) != 0; /* the privilege level */
}

#elif defined(__TARGET_ARCH_arm64)

struct cpu_registers {
	__u64 x[31], sp, ip, pstate;
};

static __always_inline bool registers_in_user(const struct cpu_registers *r)
{
	return (r->pstate & 0xf) == 0; /* EL0 */
}

#else
#error "no such architecture: see what differs in arch.h"
#endif

/* What a program of a perf event is called with. */
struct perf_event_context {
	struct cpu_registers registers;
	__u64 sample_period, address;
};
