/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench_unwind FILE...: builds the unwind table of each file several times, and prints the best CPU
 * time and the size of the table. unwind_differ measures the cost of unwinding. */
#include "elf/elffile.h"
#include "unwind/unwind.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 15 };

static double cpu_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Builds the table of @path with @rules, which know those of the files before. */
static int measure(const char *path, struct unwind_rules *rules)
{
	struct error err = ERROR_INIT;
	double best_ms = 0, since_ms;
	size_t round, count;

	for (round = 0; round < ROUNDS; round++) {
		_cleanup_(unwind_table_freep) struct unwind_table *t = NULL;
		_cleanup_(elffile_closep) struct elffile *ef = NULL;

		since_ms = cpu_ms();
		if (elffile_open(path, &ef, &err) < 0 ||
		    unwind_table_build(ef, rules, &t, &err) < 0) {
			(void)fprintf(stderr, "bench_unwind: %s\n", err.text);
			return 1;
		}
		since_ms = cpu_ms() - since_ms;
		best_ms = round && best_ms < since_ms ? best_ms : since_ms;
		if (round < ROUNDS - 1)
			continue;
		(void)unwind_rules_all(rules, &count);
		printf("%-24s %8.2f MB of CFI  %7.2f MB of table (%.2f B a byte)  %6zu functions"
		       "  %6.2f ms  %5zu rules\n",
		       strrchr(path, '/') ? strrchr(path, '/') + 1 : path,
		       (double)t->cfi_bytes / 1e6, (double)unwind_table_bytes(t) / 1e6,
		       (double)unwind_table_bytes(t) / (double)t->cfi_bytes, t->fde_count, best_ms,
		       count);
	}
	return 0;
}

int main(int argc, char **argv)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	int i, status = argc < 2;

	for (i = 1; i < argc; i++)
		status |= measure(argv[i], rules);
	return status;
}
