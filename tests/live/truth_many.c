/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_many SECONDS: works in a function that is called through a million different chains, in
 * random order. */
#include "truth.h"

/* Each call has an address of its own to return to. */
#define CALL_1(call, n)                                                                            \
	case n:                                                                                    \
		call;                                                                              \
		__asm__ volatile("# %0" : : "i"(n));                                               \
		break;
#define CALL_4(call, n)                                                                            \
	CALL_1(call, n)                                                                            \
	CALL_1(call, n + 1) CALL_1(call, n + 2) CALL_1(call, n + 3)
#define CALL_16(call, n)                                                                           \
	CALL_4(call, n)                                                                            \
	CALL_4(call, n + 4) CALL_4(call, n + 8) CALL_4(call, n + 12)
#define CALL_64(call, n)                                                                           \
	CALL_16(call, n)                                                                           \
	CALL_16(call, n + 16) CALL_16(call, n + 32) CALL_16(call, n + 48)
#define CALL_256(call, n)                                                                          \
	CALL_64(call, n)                                                                           \
	CALL_64(call, n + 64) CALL_64(call, n + 128) CALL_64(call, n + 192)
#define CALL_1024(call)                                                                            \
	CALL_256(call, 0)                                                                          \
	CALL_256(call, 256) CALL_256(call, 512) CALL_256(call, 768)

enum { STEPS = 4000 };

TRUTH_CHAIN(leaf)

__attribute__((noinline)) static void inner(uint64_t x)
{
	switch (x & 1023) {
		CALL_1024(leaf(STEPS))
	}
}

__attribute__((noinline)) static void outer(uint64_t x)
{
	switch (x >> 10 & 1023) {
		CALL_1024(inner(x))
	}
}

int main(int argc, char **argv)
{
	double end = truth_cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + (argc > 1 ? atof(argv[1]) : 1);
	uint64_t x = (uint64_t)time(NULL);

	while (truth_cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < end) {
		x = x * 6364136223846793005 + 1442695040888963407;
		outer(x >> 32);
	}
	return 0;
}
