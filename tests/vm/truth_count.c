/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_count N: a loop of two instructions, N times. */
#include <stdint.h>
#include <stdlib.h>

__attribute__((noinline)) static void count_down(uint64_t n)
{
#if defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#else
	while (n--)
		__asm__ volatile("" : "+r"(n));
#endif
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;

	if (!n)
		return 2;
	count_down(n);
	return 0;
}
