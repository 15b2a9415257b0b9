/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work at the end of a long chain of calls, and work that the kernel does for a chain of calls. */
#include "truth.h"

#include <string.h>
#include <sys/uio.h>
#include <fcntl.h>
#include <unistd.h>

enum { DEPTH = 200 };

TRUTH_CHAIN(deep_leaf)

uint64_t deep_down(uint64_t levels);
double deep_kernel(double seconds);

/* Calls itself in the middle, so that no compiler makes a loop or a jump of it. */
__attribute__((noinline)) uint64_t deep_down(uint64_t levels)
{
	uint64_t x = levels ? deep_down(levels - 1) : deep_leaf(TRUTH_UNIT);

	__asm__ volatile("# deep_down" : "+r"(x));
	return x + levels;
}

/* Reads zeroes: nearly all of that is in the kernel. */
__attribute__((noinline)) double deep_kernel(double seconds)
{
	static char buffer[1 << 20];
	double end = truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		if (read(fd, buffer, sizeof(buffer)) < 0)
			break;
	return end;
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? strtod(argv[2], NULL) : 1;
	double end = truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;

	if (argc > 1 && !strcmp(argv[1], "kernel"))
		return deep_kernel(seconds) < 0;
	while (truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		(void)deep_down(DEPTH);
	return 0;
}
