/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how fast the symbols of a file are read, from the file and from the symbol cache, and
 * how fast the symbols of addresses are found.
 *
 *	bench_symbols FILE [ROUNDS]
 *
 * CPU time of the process, best of the rounds.
 */
#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "symbol/elfsym.h"
#include "symbol/symcache.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 7, ADDRESSES = 1000000, FEW = 1000 };

static const char key[] = "bench";

static double seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct symtab *read_symbols(const char *path)
{
	struct error err = ERROR_INIT;
	struct elffile *ef;
	struct symtab *st;

	if (elffile_open(path, &ef, &err) < 0) {
		(void)fprintf(stderr, "bench_symbols: %s\n", err.text);
		exit(1);
	}
	st = symtab_new();
	symtab_hold(st, ef, elfsym_release);
	elfsym_load(ef, NULL, ELFSYM_FILE_OFFSET, st);
	elfsym_load_plt(ef, st);
	symtab_settle(st);
	return st;
}

/* Looks up @count of the symbols at equal distances; so that nothing is optimised away, a sum. */
static uint64_t look_up(const struct symtab *st, size_t count, uint64_t end)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct symbol *sym = symtab_find(st, end / count * i);

		sum += sym ? sym->address + (uint64_t)sym->name[0] : 0;
	}
	return sum;
}

/* As a report does it: in order, each time from the last one on. */
static uint64_t merge(const struct symtab *st, size_t count, uint64_t end)
{
	uint64_t sum = 0;
	size_t i, at = 0;

	for (i = 0; i < count; i++) {
		at = symtab_seek(st, at, end / count * i);
		sum += at < symtab_count(st) ? symtab_at(st, at)->address : 0;
	}
	return sum;
}

static void note(double *best, double start)
{
	double took = seconds() - start;

	*best = took < *best ? took : *best;
}

int main(int argc, char **argv)
{
	enum { COLD, STORE, WARM_FEW, WARM_ALL, MERGE, TIMES };
	static const char *const names[TIMES] = { "from the file", "into the cache",
						  "from the cache, 1,000 of them",
						  "from the cache, all",
						  "1 M sorted addresses to symbols" };
	double best[TIMES] = { 1e9, 1e9, 1e9, 1e9, 1e9 }, start;
	uint64_t rounds = ROUNDS, sum = 0, end, count = 0, i;
	char directory[] = "/tmp/bench-symbols.XXXXXX";
	struct symcache *cache;
	struct symtab *st;

	if (argc < 2 || (argc > 2 && parse_u64(argv[2], 1, 1000, &rounds) < 0) ||
	    !mkdtemp(directory) || !(cache = symcache_open(directory, SYMCACHE_CAP)))
		return 2;
	while (rounds--) {
		start = seconds();
		st = read_symbols(argv[1]);
		note(&best[COLD], start);
		count = symtab_count(st);
		end = symtab_count(st) ? symtab_at(st, symtab_count(st) - 1)->end : 0;
		start = seconds();
		sum += merge(st, ADDRESSES, end);
		note(&best[MERGE], start);
		start = seconds();
		symcache_store(cache, key, st);
		note(&best[STORE], start);
		symtab_free(st);
		start = seconds();
		st = symcache_find(cache, key, NULL);
		sum += look_up(st, FEW, end);
		note(&best[WARM_FEW], start);
		symtab_free(st);
		start = seconds();
		st = symcache_find(cache, key, NULL);
		for (i = 0; i < symtab_count(st); i++)
			sum += (uint64_t)symtab_at(st, i)->name[0];
		note(&best[WARM_ALL], start);
		symtab_free(st);
	}
	(void)printf("%" PRIu64 " symbols\n", count);
	for (i = 0; i < TIMES; i++)
		(void)printf("%-34s %8.2f ms\n", names[i], best[i] * 1e3);
	symcache_close(cache);
	(void)path_remove_tree(directory, NULL);
	return sum == 42; /* whatever it is */
}
