/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call chains of a session: lib/chains/chain_table.c, chain_names.c, chain_read.c,
 * chain_store.c, chain_arcs.c. The input is the three files of a store, each preceded by its length
 * in 16 bits. */
#include "fuzz.h"

#include "base/mem.h"
#include "base/span.h"
#include "file/path.h"
#include "chains/chain_arcs.h"
#include "chains/chain_merge.h"
#include "chains/chain_read.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void put_file(const char *dir, const char *name, struct span *in)
{
	_cleanup_free_ char *path = path_join(dir, name);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint16_t size;
	struct span bytes = { 0 };

	if (span_u16(in, &size) < 0 || span_sub(in, size, &bytes) < 0)
		span_sub(in, in->left, &bytes);
	if (fd < 0 || write(fd, bytes.at, bytes.left) != (ssize_t)bytes.left)
		abort();
}

static int add_up(uint32_t context, const struct chain *chain, void *data)
{
	uint64_t *sum = data;
	size_t i;

	*sum += context + chain->samples;
	for (i = 0; i < chain->count; i++)
		*sum += chain->frames[i].image + chain->frames[i].offset;
	return 0;
}

static void read_all(const char *samples)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	struct chain_damage damage;
	uint64_t sum = 0;

	if (chain_reader_open(samples, NULL, &r, NULL) < 0)
		return;
	(void)chain_reader_each(r, add_up, &sum);
	chain_reader_check(r, &damage);
}

/* Every arc has callers and callees that the names know. */
static void read_arcs(const char *samples)
{
	_cleanup_(chain_arcs_freep) struct chain_arcs *a = NULL;
	size_t i;

	if (chain_arcs_read(samples, NULL, &a, NULL) < 0)
		return;
	for (i = 0; i < chain_arcs_count(a); i++) {
		const struct chain_arcs_file *f = chain_arcs_at(a, i);
		_cleanup_free_ char *mangled = sname_mangle(&f->name);

		if (!f->count || !f->arcs[f->count - 1].samples || !*mangled)
			abort();
	}
}

static void add_one(const char *samples)
{
	_cleanup_(chain_store_closep) struct chain_store *s = NULL;
	const struct chain_frame frames[] = { { 1, 0x10 }, { 1, 0x20 } };

	/* Number 1 is an image only if the names have one. */
	if (chain_store_open(samples, &s, NULL) == 0)
		(void)chain_store_add(s, 1, &(struct chain){ frames, 2, 1 }, NULL);
}

/* One directory for all inputs, because creating it costs more than the test. */
static char dir[] = "/tmp/opfuzz-XXXXXX";

static void remove_directory(void)
{
	(void)path_remove_tree(dir, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;
	_cleanup_free_ char *chains = NULL;
	struct span in = span_of(data, size);

	if (!made && (!mkdtemp(dir) || atexit(remove_directory)))
		abort();
	made = true;
	chains = path_join(dir, CHAIN_DIRECTORY);
	(void)mkdir(chains, 0700);
	put_file(chains, "names.0", &in);
	put_file(chains, "places.0", &in);
	put_file(chains, "nodes.0", &in);
	read_all(dir);
	if (size % 8 == 0)
		(void)chain_repair(dir, NULL);
	read_arcs(dir);
	add_one(dir);
	read_all(dir);
	return 0;
}
