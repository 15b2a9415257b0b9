/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_dlopen SECONDS LIBRARY SYMBOL LIBRARY SYMBOL: alternately loads two libraries at the same
 * address, each after the other was unloaded; the first has 75, the second 25 of 100. */
#include "truth.h"

#include <dlfcn.h>
#include <string.h>

enum { UNITS = 40 };

int main(int argc, char **argv)
{
	static const unsigned int weights[] = { 75, 25 };
	unsigned long rounds = 0, reused = 0;
	void *address, *before = NULL;
	double seconds;
	int i;

	if (argc != 6)
		return 2;
	seconds = strtod(argv[1], NULL);
	for (i = 0; i < 2; i++)
		printf("share %s %s %u\n", strrchr(argv[2 + 2 * i], '/') + 1, argv[3 + 2 * i],
		       weights[i]);
	while (truth_cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds) {
		for (i = 0; i < 2; i++) {
			void *library = dlopen(argv[2 + 2 * i], RTLD_NOW);
			uint64_t (*run)(uint64_t);

			address = library ? dlsym(library, argv[3 + 2 * i]) : NULL;
			if (!address)
				return 1;
			memcpy(&run, &address, sizeof(run));
			(void)run(weights[i] * UNITS * TRUTH_UNIT / 100);
			(void)dlclose(library);
			reused += address == before;
			before = address;
			rounds++;
		}
	}
	printf("# %lu loads, %lu at the address of the other library\n", rounds, reused);
	return reused > rounds / 2 ? 0 : 1;
}
