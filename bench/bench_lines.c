/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how fast lines and inlined calls are found for addresses.
 *
 *	bench_lines FILE [ADDRESSES] [print]
 *
 * Looks up addresses at equal distances in the functions of the file, in order, and prints the CPU
 * time and memory of the process; or prints the addresses with the result, function by function, in
 * the format of addr2line -f -i.
 */
#include "base/mem.h"
#include "base/parse.h"
#include "symbol/elfsym.h"
#include "dwarf/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

struct sums {
	size_t lines, calls, bytes;
};

static double seconds(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* @count addresses at equal distances in the functions of the file, in order; caller frees. */
static uint64_t *choose(const struct symtab *st, size_t count)
{
	uint64_t *addresses = xcalloc(count, sizeof(*addresses)), all = 0, before = 0, step;
	size_t i, n = 0;

	for (i = 0; i < symtab_count(st); i++)
		all += symtab_at(st, i)->end - symtab_at(st, i)->offset;
	step = MAX(all / count, (uint64_t)1);
	for (i = 0; i < symtab_count(st) && n < count; i++) {
		const struct symbol *s = symtab_at(st, i);
		uint64_t size = s->end - s->offset;

		while (n < count && n * step < before + size)
			addresses[n] = s->address + (n * step - before), n++;
		before += size;
	}
	return addresses;
}

static void ask(struct lines *l, const uint64_t *addresses, size_t count, bool print,
		struct sums *sums)
{
	size_t i, j;

	for (i = 0; i < count; i++) {
		const struct lines_call *calls = NULL;
		struct lines_place at = { "??", 0 };
		size_t n = lines_inlines(l, addresses[i], &calls);

		sums->lines += lines_find(l, addresses[i], &at);
		sums->calls += n;
		sums->bytes += strlen(at.file);
		if (!print)
			continue;
		(void)printf("%#" PRIx64 " %s:%u", addresses[i], at.file, at.line);
		for (j = 0; j < n; j++)
			(void)printf(" %s %s:%u", calls[j].function, calls[j].at.file ?: "??",
				     calls[j].at.line);
		(void)putchar('\n');
	}
}

int main(int argc, char **argv)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	_cleanup_free_ uint64_t *addresses = NULL;
	struct error err = ERROR_INIT;
	struct sums sums = { 0 };
	struct rusage usage;
	struct lines *lines;
	uint64_t count = 1000000;
	bool print = argc > 3;
	double start, took;

	if (argc < 2 || (argc > 2 && parse_u64(argv[2], 1, UINT32_MAX, &count) < 0)) {
		(void)fprintf(stderr, "usage: bench_lines FILE [ADDRESSES] [print]\n");
		return 2;
	}
	if (elffile_open(argv[1], &ef, &err) < 0) {
		(void)fprintf(stderr, "bench_lines: %s\n", err.text);
		return 1;
	}
	(void)elfsym_load(ef, NULL, ELFSYM_FROM_TEXT, st);
	symtab_settle(st);
	addresses = choose(st, count);
	start = seconds();
	lines = lines_new(ef, NULL);
	ask(lines, addresses, count, print, &sums);
	took = seconds() - start;
	(void)getrusage(RUSAGE_SELF, &usage);
	lines_free(lines);
	(void)fprintf(stderr,
		      "%" PRIu64 " addresses: %zu with a line, %zu inlined calls, %.3f s, "
		      "%.0f addresses/s, %ld MB\n",
		      count, sums.lines, sums.calls, took, (double)count / took,
		      usage.ru_maxrss / 1024);
	return 0;
}
