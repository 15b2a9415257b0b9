/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how fast the sample database counts, on one core: additions to existing keys ("hot"),
 * and insertions into a file that grows from its smallest size ("new").
 *
 *	bench_odb [DIRECTORY [ROUNDS]]
 *
 * The directory (default: $TMPDIR or /tmp) decides the filesystem.
 */
#include "base/hash.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "sfile/odb.h"

#include <stdio.h>
#include <time.h>

enum { HEADER = 72, HOT_KEYS = 64 << 10, HOT_ADDS = 16 << 20, NEW_KEYS = 1000000, ROUNDS_MAX = 99 };

static double seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Keys as a profile has them: offsets of instructions in a few megabytes of code. */
static uint64_t *make_keys(size_t n, uint64_t seed)
{
	uint64_t *keys = xcalloc(n, sizeof(*keys));
	size_t i;

	for (i = 0; i < n; i++)
		keys[i] = 4 * i;
	for (i = n - 1; i > 0; i--) {
		size_t j = hash_add(seed, i) % (i + 1);
		uint64_t t = keys[i];

		keys[i] = keys[j];
		keys[j] = t;
	}
	return keys;
}

/* Returns additions per second to keys that are all in the file. */
static double hot_round(const char *path, const uint64_t *keys)
{
	_cleanup_(odb_closep) struct odb *db = NULL;
	struct error err = ERROR_INIT;
	double start;
	size_t i;

	(void)unlink(path);
	if (odb_open(path, ODB_WRITE, HEADER, &db, &err) < 0)
		return 0;
	for (i = 0; i < HOT_KEYS; i++)
		if (odb_add(db, keys[i], 1) < 0)
			return 0;
	start = seconds();
	for (i = 0; i < HOT_ADDS; i++)
		if (odb_add(db, keys[(i * 40503) % HOT_KEYS], 1) < 0)
			return 0;
	return HOT_ADDS / (seconds() - start);
}

/* Insertions per second of new keys, with creation and every growth of the file. */
static double new_round(const char *path, const uint64_t *keys)
{
	_cleanup_(odb_closep) struct odb *db = NULL;
	struct error err = ERROR_INIT;
	double start;
	size_t i;

	(void)unlink(path);
	start = seconds();
	if (odb_open(path, ODB_WRITE, HEADER, &db, &err) < 0)
		return 0;
	for (i = 0; i < NEW_KEYS; i++)
		if (odb_add(db, keys[i], 1) < 0)
			return 0;
	return NEW_KEYS / (seconds() - start);
}

static int bench(const char *what, double (*round)(const char *, const uint64_t *),
		 const char *path, size_t n, size_t rounds)
{
	_cleanup_free_ uint64_t *keys = make_keys(n, 7);
	double rates[ROUNDS_MAX];
	size_t i;

	for (i = 0; i < rounds; i++)
		rates[i] = round(path, keys);
	qsort(rates, rounds, sizeof(rates[0]), compare_doubles);
	(void)unlink(path);
	if (rates[0] <= 0) {
		(void)fprintf(stderr, "bench_odb: cannot write %s\n", path);
		return 1;
	}
	printf("%s: best %.1f M/s, median %.1f M/s (%zu rounds)\n", what, rates[rounds - 1] / 1e6,
	       rates[rounds / 2] / 1e6, rounds);
	return 0;
}

int main(int argc, char **argv)
{
	const char *directory = argc > 1 ? argv[1] : getenv("TMPDIR");
	_cleanup_free_ char *path = path_join(directory ? directory : "/tmp", "bench_odb.samples");
	uint64_t rounds = 9;

	if (argc > 2 && parse_u64(argv[2], 1, ROUNDS_MAX, &rounds) < 0)
		return 2;
	return bench("adds to 64 Ki hot keys", hot_round, path, HOT_KEYS, rounds) ||
	       bench("inserts of 1 M new keys", new_round, path, NEW_KEYS, rounds);
}
