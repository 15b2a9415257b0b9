/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library without unwind information, compiled with frame pointers: bare_outer() calls
 * bare_middle(), which calls bare_leaf(), where the work is. */
#include <stdint.h>

/* What calls nothing gets a frame from gcc only where it asks for its address. */
#define FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

uint64_t bare_outer(uint64_t steps);

/* What a call leaves to do, so that it is no jump. */
static volatile uint64_t done;

static __attribute__((noinline)) uint64_t bare_leaf(uint64_t steps)
{
	uint64_t x = steps;

	FRAME();
	while (steps--) {
		x = x * 6364136223846793005 + 1442695040888963407;
		__asm__ volatile("# bare_leaf" : "+r"(x));
	}
	return x;
}

static __attribute__((noinline)) uint64_t bare_middle(uint64_t steps)
{
	done += bare_leaf(steps);
	return done;
}

uint64_t bare_outer(uint64_t steps)
{
	done += bare_middle(steps);
	return done;
}
