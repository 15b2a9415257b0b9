/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_32: works for about a second, as a 32-bit program that needs no library. */
void _start(void);

static __attribute__((noinline)) void spin(void)
{
	unsigned int steps = 4000000000;

	while (steps--)
		__asm__ volatile("" : "+r"(steps));
}

void _start(void)
{
	spin();
	__asm__ volatile("int $0x80" : : "a"(1), "b"(0)); /* exit(2) */
	__builtin_unreachable();
}
