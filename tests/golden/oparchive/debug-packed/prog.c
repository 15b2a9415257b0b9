/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

volatile int sink;
static inline __attribute__((always_inline)) void inner(int x)
{
	sink += x;
	sink ^= x + 1;
}
int main(int argc, char **argv)
{
	inner(argc);
#ifdef OTHER
	puts(argv[0]);
#endif
	return !argv;
}
