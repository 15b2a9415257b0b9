/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sum of the squares of waits, which is how much the sum of the waits varies by chance. It is
 * kept in two units, so that short waits are not rounded away and long ones do not overflow.
 * bpf/sample.bpf.c counts it in the kernel; lib/driver/offcpu_stats.h reports it.
 *
 *	struct offcpu_squares s = { 0 };
 *	offcpu_square(&s, us);
 */
#pragma once

#include <linux/types.h>

enum {
	OFFCPU_SHORT_US = 1 << 16, /* shorter waits are short */
	OFFCPU_LONG_SHIFT = 10,	   /* long ones are rounded up to so many bits of microseconds */
};

struct offcpu_squares {
	__u64 of_short; /* microseconds squared */
	__u64 of_long;	/* squares of 1024 microseconds */
};

/* Adds a wait. */
static inline void offcpu_square(struct offcpu_squares *s, __u64 us)
{
	__u64 coarse = (us >> OFFCPU_LONG_SHIFT) + 1;

	if (us < OFFCPU_SHORT_US)
		s->of_short += us * us;
	else
		s->of_long += coarse * coarse;
}
