/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_storm CHILDREN: starts that many children one after the other by exec. Each lives for some
 * milliseconds, and spends 40 of 100 in one function, 60 in another. Static, so that the profile
 * contains only the program and the kernel. */
#include "truth.h"

#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

enum { UNITS = 100 };

TRUTH_CHAIN(storm_a)
TRUTH_CHAIN(storm_b)

static const struct truth_part parts[] = {
	{ "truth_storm", "storm_a", storm_a, 40 },
	{ "truth_storm", "storm_b", storm_b, 60 },
};

int main(int argc, char **argv)
{
	char child[] = "child", *child_argv[] = { argv[0], child, NULL },
	     *no_environment[] = { NULL };
	unsigned long i, count;
	int status;
	pid_t pid;

	if (argc != 2)
		return 2;
	if (!strcmp(argv[1], "child")) {
		truth_round(parts, 2);
		return 0;
	}
	count = strtoul(argv[1], NULL, 10);
	truth_say(parts, 2);
	for (i = 0; i < count; i++) {
		if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, child_argv, no_environment))
			return 1;
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}
