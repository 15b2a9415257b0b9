/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_vforks SECONDS: starts children again and again by vfork(), which execute itself or exit.
 * As soon as one has given back the stack that both use, the parent overwrites it with frames of
 * parent_only(). */
#include "truth.h"

#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#define FUNCTION __attribute__((noinline, optnone))
#else
#define FUNCTION __attribute__((noinline, noipa))
#endif

enum { DEPTH = 40, ROUNDS = 20 };

static volatile uint64_t sink;
static volatile bool executes; /* what the next child does */

FUNCTION static void parent_only(int depth)
{
	volatile char frame[64];

	memset((void *)frame, depth, sizeof(frame));
	if (depth)
		parent_only(depth - 1);
	sink += (uint64_t)frame[0];
}

FUNCTION static void child_only(char *const *arguments, int depth)
{
	volatile char frame[64];

	memset((void *)frame, depth, sizeof(frame));
	if (depth)
		child_only(arguments, depth - 1);
	else if (!arguments)
		_exit(0);
	else
		(void)execv(arguments[0], arguments);
	sink += (uint64_t)frame[0];
}

int main(int argc, char **argv)
{
	char *const arguments[] = { argv[0], NULL };
	double until;

	if (argc < 2)
		return 0;
	until = truth_cpu_seconds(CLOCK_MONOTONIC) + strtod(argv[1], NULL);
	while (truth_cpu_seconds(CLOCK_MONOTONIC) < until) {
		pid_t child;
		int i;

		executes = !executes;
		child = vfork();
		if (child < 0)
			return 1;
		if (!child) {
			child_only(executes ? arguments : NULL, DEPTH / 2);
			_exit(1);
		}
		for (i = 0; i < ROUNDS; i++)
			parent_only(DEPTH);
		if (waitpid(child, NULL, 0) != child)
			return 1;
	}
	return 0;
}
