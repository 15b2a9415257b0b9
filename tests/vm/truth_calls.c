/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_calls SECONDS in main -> outer -> middle -> inner, without frame pointers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A clone would have another name. */
#if __has_attribute(noclone)
#define LINK __attribute__((noinline, noclone))
#else
#define LINK __attribute__((noinline))
#endif

static LINK uint64_t inner(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		__asm__ volatile("" : "+r"(x) : "r"(n));
	return x;
}

static LINK uint64_t middle(uint64_t n)
{
	return inner(n) + 1;
}

static LINK uint64_t outer(uint64_t n)
{
	return middle(n) + 1;
}

int main(int argc, char **argv)
{
	clock_t end = clock() + (argc > 1 ? atoi(argv[1]) : 1) * CLOCKS_PER_SEC;
	uint64_t sum = 0;

	while (clock() < end)
		sum += outer(100000);
	printf("%lu\n", (unsigned long)sum);
	return 0;
}
