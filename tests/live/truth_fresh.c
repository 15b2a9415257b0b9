/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_fresh SECONDS LIBRARY...: loads one library after the other, and works for that many
 * seconds of CPU time in its function fresh_early, then for half as many in its function
 * fresh_later. */
#include "truth.h"

#include <dlfcn.h>
#include <string.h>

static volatile uint64_t sink;

typedef uint64_t work(uint64_t steps);

static work *function_of(void *library, const char *name)
{
	void *address = library ? dlsym(library, name) : NULL;
	work *function;

	if (!address)
		exit(1);
	memcpy(&function, &address, sizeof(function));
	return function;
}

__attribute__((noinline)) static void spend(double seconds, work *run)
{
	double end = truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		sink += run(TRUTH_UNIT);
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? strtod(argv[1], NULL) : 0;
	int i;

	for (i = 2; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW);

		spend(seconds, function_of(library, "fresh_early"));
		spend(seconds / 2, function_of(library, "fresh_later"));
	}
	return argc > 2 ? 0 : 2;
}
