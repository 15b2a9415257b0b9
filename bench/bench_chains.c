/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench_chains SAMPLES [N]: adds the call chains of a session (the directory SAMPLES, samples/NAME)
 * again, sample by sample in random order, to an empty store. Measures the cost, and how the store
 * grows. With N, each N samples are a slice. */
#include "base/hash.h"
#include "base/mem.h"
#include "file/path.h"
#include "chains/chain_read.h"
#include "history/slice_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { SAMPLES_MAX = 1 << 22, STEPS = 4 };

struct one {
	uint32_t context;
	size_t first, count; /* in frames */
};

struct load {
	size_t per_slice, slices; /* samples per slice; 0: no slices */
	double slice_ns, slice_ns_max;
	struct chain_reader *reader;
	struct one *ones; /* one a sample */
	size_t count, room;
	struct chain_frame *frames;
	size_t frame_count, frame_room, frames_added;
};

static int take(uint32_t context, const struct chain *chain, void *data)
{
	struct load *l = data;
	const struct one one = { context, l->frame_count, chain->count };
	uint64_t i;

	array_grow(&l->frames, l->frame_count + chain->count, &l->frame_room);
	memcpy(l->frames + l->frame_count, chain->frames, chain->count * sizeof(*l->frames));
	l->frame_count += chain->count;
	for (i = 0; i < chain->samples && l->count < SAMPLES_MAX; i++) {
		array_grow(&l->ones, l->count + 1, &l->room);
		l->ones[l->count++] = one;
	}
	return 0;
}

/* The same order every time. */
static void shuffle(struct load *l)
{
	size_t i, k;

	for (i = l->count; i > 1; i--) {
		struct one swap = l->ones[i - 1];

		k = hash_u64(i) % i;
		l->ones[i - 1] = l->ones[k];
		l->ones[k] = swap;
	}
}

/* Gives images and contexts the numbers that they have in the reader. */
static void name_all(const struct load *l, struct chain_store *s)
{
	const struct chain_names *names = chain_reader_names(l->reader);
	uint32_t i, number;

	for (i = 1; i <= chain_names_images(names); i++)
		if (chain_store_image(s, chain_names_image_at(names, i),
				      chain_names_is_kernel(names, i), &number, NULL) < 0 ||
		    number != i)
			abort();
	for (i = 1; i <= chain_names_contexts(names); i++)
		if (chain_store_context(s, chain_names_context_at(names, i), &number, NULL) < 0 ||
		    number != i)
			abort();
}

static uint64_t bytes_of(const char *dir)
{
	static const char *const names[] = { "names.0", "places.0", "nodes.0", "slices.0" };
	uint64_t sum = 0;
	struct stat st;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *path = xasprintf("%s/" CHAIN_DIRECTORY "/%s", dir, names[i]);

		sum += stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
	}
	return sum;
}

static double cpu_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Ends a slice of ten seconds, all in one hour. */
static void end_slice(struct load *l, struct chain_store *s)
{
	const int64_t begin_ms = (int64_t)l->slices++;
	const struct slice slice = { .span = { begin_ms, begin_ms + 1 } };
	double before = cpu_ns(), spent;

	if (chain_store_end_slice(s, &slice, NULL) < 0)
		abort();
	spent = cpu_ns() - before;
	l->slice_ns += spent;
	l->slice_ns_max = spent > l->slice_ns_max ? spent : l->slice_ns_max;
}

static void add_some(struct load *l, struct chain_store *s, size_t from, size_t to)
{
	struct error err = ERROR_INIT;
	size_t i;

	for (i = from; i < to; i++) {
		const struct one *o = &l->ones[i];
		const struct chain chain = { l->frames + o->first, o->count, 1 };

		l->frames_added += o->count;
		if (chain_store_add(s, o->context, &chain, &err) < 0) {
			(void)fprintf(stderr, "%s\n", err.text);
			exit(1);
		}
		if (l->per_slice && i % l->per_slice == l->per_slice - 1)
			end_slice(l, s);
	}
}

static void run(struct load *l, const char *dir)
{
	struct chain_store *s = NULL;
	size_t done = 0, step;
	double spent = 0, before;

	if ((l->per_slice ? chain_store_open_sliced(dir, &s, NULL)
			  : chain_store_open(dir, &s, NULL)) < 0)
		abort();
	name_all(l, s);
	for (step = 1; step <= STEPS; step++) {
		size_t until = l->count * step / STEPS;

		before = cpu_ns();
		add_some(l, s, done, until);
		spent += cpu_ns() - before;
		done = until;
		printf("%9zu samples: %9" PRIu64 " bytes, %5.1f a sample; %5.0f ns a chain, %4.1f "
		       "ns a frame\n",
		       done, bytes_of(dir), (double)bytes_of(dir) / (double)done,
		       spent / (double)done, spent / (double)l->frames_added);
	}
	if (l->slices)
		printf("%9zu slices: %5.0f us each, %5.0f at most\n", l->slices,
		       l->slice_ns / (double)l->slices / 1e3, l->slice_ns_max / 1e3);
	chain_store_close(s);
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/bench-chains.XXXXXX";
	struct load l = { .count = 0 };
	struct error err = ERROR_INIT;

	l.per_slice = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	if (argc < 2 || argc > 3 || !mkdtemp(dir)) {
		(void)fprintf(stderr, "usage: bench_chains SAMPLES [N]\n");
		return 2;
	}
	if (chain_reader_open(argv[1], NULL, &l.reader, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	(void)chain_reader_each(l.reader, take, &l);
	shuffle(&l);
	run(&l, dir);
	(void)path_remove_tree(dir, NULL);
	chain_reader_close(l.reader);
	free(l.ones);
	free(l.frames);
	return 0;
}
