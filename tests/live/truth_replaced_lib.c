/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function with a frame of its own, which calls another one. */
#include <stdint.h>

void lib_calls(void (*work)(uint64_t steps), uint64_t steps);

__attribute__((noinline)) void lib_calls(void (*work)(uint64_t steps), uint64_t steps)
{
	volatile char room[200];

	room[0] = 1;
	work(steps);
	room[1] = room[0];
}
