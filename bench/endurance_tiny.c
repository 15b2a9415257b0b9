/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program without libraries, of which there can be very many: its chains are _start;outer;inner.
 * endurance_tiny: works for less than a millisecond; with one argument for some 50 ms, with two for
 * some 500 ms. */
#include <stdint.h>

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n.cfi_startproc\n.cfi_undefined rip\nmov (%rsp), %rdi\n"
	"call outer\nmov %eax, %edi\nmov $60, %eax\nsyscall\n.cfi_endproc\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n.cfi_startproc\n.cfi_undefined x30\nldr x0, [sp]\n"
	"bl outer\nmov x8, #93\nsvc #0\n.cfi_endproc\n");
#endif

static volatile uint64_t sink;

__attribute__((noinline)) static void inner(uint64_t steps)
{
	uint64_t value = steps;

	while (steps--)
		value = value * 6364136223846793005ULL + 1;
	sink += value;
}

int outer(long count);
__attribute__((noinline, used)) int outer(long count)
{
	static const uint64_t steps[] = { 0, 300000, 40000000, 400000000 };
	long i, parts = 64;

	for (i = 0; i < parts; i++)
		inner(steps[count & 3] / (uint64_t)parts);
	return 0;
}
