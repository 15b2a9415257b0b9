/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The slices of a chain store: lib/chains/internal/chain_past.c, chain_read.c, chain_merge.c. The
 * input is the content of one slice of a store with four nodes. What is before the content in the
 * file is fuzz_history's. */
#include "fuzz.h"

#include "base/mem.h"
#include "file/path.h"
#include "chains/chain_merge.h"
#include "chains/chain_read.h"
#include "history/slice_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SAMPLES = 100 }; /* of each chain */

/* Chains of one frame and of two, so the nodes are a root, two callers and a callee. */
static void make_store(const char *samples)
{
	const struct sname_image image = { .kind = SNAME_ROOT, .name = "/bin/program" };
	const struct chain_frame frames[] = { { 1, 0x10 }, { 1, 0x20 } };
	struct chain_context context = { .event = "TIMER.0.0",
					 .end = "complete",
					 .task = SNAME_TASK_ALL };
	struct chain_store *s = NULL;
	uint32_t id;

	if (chain_store_open_sliced(samples, &s, NULL) < 0 ||
	    chain_store_image(s, &image, false, &context.app, NULL) < 0 ||
	    chain_store_context(s, &context, &id, NULL) < 0 ||
	    chain_store_add(s, id, &(struct chain){ frames, 2, SAMPLES }, NULL) < 0 ||
	    chain_store_add(s, id, &(struct chain){ frames, 1, SAMPLES }, NULL) < 0)
		abort();
	chain_store_close(s);
}

static int add_up(uint32_t context _unused_, const struct chain *chain, void *data)
{
	uint64_t *sum = data;

	if (!chain->samples || chain->samples > SAMPLES)
		abort();
	*sum += chain->samples;
	return 0;
}

static uint64_t samples_in(const char *samples, const struct window *window)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	uint64_t sum = 0;

	if (chain_reader_open(samples, window, &r, NULL) == 0)
		(void)chain_reader_each(r, add_up, &sum);
	return sum;
}

/* One directory for all inputs, because creating it costs more than the test. */
static char dir[] = "/tmp/opfuzz-XXXXXX";

static void remove_directory(void)
{
	(void)path_remove_tree(dir, NULL);
}

static void put_slice(const char *path, const uint8_t *data, size_t size)
{
	_cleanup_(slice_file_closep) struct slice_file *f = NULL;
	const struct slice slice = { .span = { 0, 10000 }, .samples = 1 };

	if (slice_file_open(path, &f, NULL) < 0 || slice_file_add(f, &slice, data, size, NULL) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;
	_cleanup_free_ char *slices = NULL, *chains = NULL;
	uint64_t in_slices;

	if (!made && (!mkdtemp(dir) || atexit(remove_directory)))
		abort();
	made = true;
	chains = path_join(dir, CHAIN_DIRECTORY);
	slices = path_join(chains, "slices.0");
	if (access(chains, F_OK) < 0)
		make_store(dir);
	(void)unlink(slices);
	put_slice(slices, data, size);
	in_slices = samples_in(dir, &WINDOW_ALL);
	if (in_slices > samples_in(dir, NULL))
		abort();
	if (size % 8)
		return 0;
	if (chain_repair(dir, NULL) < 0 || samples_in(dir, &WINDOW_ALL) != in_slices ||
	    samples_in(dir, NULL) != 2 * SAMPLES)
		abort();
	(void)path_remove_tree(chains, NULL);
	return 0;
}
