/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Segments of a history: lib/history/segment.c, internal/segment_roll.c. The input is the numbers
 * of slices, lines, places and nodes, 8 bits each; five blocks, each preceded by its length in 16
 * bits; and the content of all slices. The checksums are made here. */
#include "fuzz.h"

#include "base/span.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "chains/chain_read.h"
#include "chains/chain_union.h"
#include "history/internal/generations.h"
#include "history/segment.h"
#include "history/internal/segment_format.h"
#include "history/internal/segment_roll.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

static struct segment_block put_block(struct strbuf *out, struct span raw)
{
	static char bytes[1 << 17];
	size_t stored = ZSTD_compress(bytes, sizeof(bytes), raw.at, raw.left, 1);
	struct segment_block b = { .offset = out->length };

	if (ZSTD_isError(stored))
		abort();
	b.stored = (uint32_t)stored;
	b.size = (uint32_t)raw.left;
	b.crc = (uint32_t)crc32_z(0, (const uint8_t *)bytes, stored);
	strbuf_add(out, bytes, stored);
	return b;
}

/* Makes the segment; false if the input is too short. */
static bool make(struct span in, struct strbuf *out)
{
	struct segment_header h = { .magic = SEGMENT_MAGIC, .level = 1, .first = 1, .last = 255 };
	struct segment_entry entry;
	struct span blocks[SEGMENT_BLOCK_COUNT_];
	uint8_t numbers[4];
	uint16_t length;
	size_t i, k;

	if (span_copy(&in, numbers, sizeof(numbers)) < 0)
		return false;
	for (i = 0; i < SEGMENT_BLOCK_COUNT_; i++)
		if (span_u16(&in, &length) < 0 || span_sub(&in, length, &blocks[i]) < 0)
			return false;
	h.slices = numbers[0] & 15;
	h.columns = numbers[0] >> 4;
	h.lines = numbers[1];
	h.places = numbers[2];
	h.nodes = numbers[3];
	strbuf_add(out, &h, sizeof(h));
	for (i = 0; i < SEGMENT_INDEX; i++)
		h.blocks[i] = put_block(out, blocks[i]);
	in = span_of(in.at, in.left < 1 << 16 ? in.left : 1 << 16);
	for (k = 0; k + sizeof(entry) <= blocks[SEGMENT_INDEX].left; k += sizeof(entry)) {
		memcpy(&entry, blocks[SEGMENT_INDEX].at + k, sizeof(entry));
		entry.block = put_block(out, in);
		memcpy((uint8_t *)blocks[SEGMENT_INDEX].at + k, &entry, sizeof(entry));
	}
	h.blocks[SEGMENT_INDEX] = put_block(out, blocks[SEGMENT_INDEX]);
	h.crc = (uint32_t)crc32_z(0, (const uint8_t *)&h.level,
				  sizeof(h) - offsetof(struct segment_header, level));
	memcpy(out->text, &h, sizeof(h));
	return true;
}

/* What can be read can be rolled up, and is sound then. */
static void roll(struct segment *s)
{
	const struct segment_rolling how = {
		.about = { .level = 2, .first = 1, .last = 255 },
		.slice_ms = 60000,
		.is_small = segment_about(s)->slices & 1,
		.part = 3,
		.other = generation_other,
	};
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	_cleanup_(segment_freep) struct segment *rolled = NULL;

	if (segment_roll(&how, &s, 1, &out) < 0)
		return;
	if (segment_open_bytes(out.text, out.length, &rolled, NULL) < 0 ||
	    segment_check(rolled, NULL) < 0)
		abort();
}

static char dir[] = "/tmp/opfuzz-XXXXXX";

static void remove_directory(void)
{
	(void)path_remove_tree(dir, NULL);
}

static int add_up(uint32_t context _unused_, const struct chain *chain, void *data)
{
	*(uint64_t *)data += chain->samples;
	return 0;
}

/* Reads the tree of chains node by node. */
static void read_tree(struct chain_reader *r, size_t i)
{
	const struct chain_reader_tree tree = chain_reader_tree(r, i);
	struct chain_frame frame;
	bool is_function;
	uint32_t k;

	for (k = 1; k <= tree.nodes; k++) {
		if (tree.parents[k] >= k || tree.place_of[k] > tree.places)
			abort();
		(void)chain_reader_frame(r, i, tree.place_of[k], &frame, &is_function);
		(void)chain_reader_context(r, i, tree.place_of[k]);
	}
	chain_reader_forget_tree(r, i);
}

/* Makes the union of the trees, and reads it. */
static void read_union(struct chain_reader *r)
{
	struct chain_union u = { .reader = r };
	struct chain chain;
	uint32_t i;

	while (chain_union_next(&u))
		for (i = 1; i <= u.count; i++) {
			if (u.parents[i] >= i || (u.parents[i] && u.place_of[i] > u.place_count))
				abort();
			(void)chain_union_chain(&u, i, &chain);
		}
	chain_union_done(&u);
}

/* Reads the segment as one of call chains. */
static void read_chains(const struct strbuf *bytes)
{
	static bool made;
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	_cleanup_free_ char *chains = NULL, *path = NULL;
	uint64_t sum = 0;
	size_t i;
	FILE *f;

	if (!made && (!mkdtemp(dir) || atexit(remove_directory)))
		abort();
	made = true;
	chains = path_join(dir, CHAIN_DIRECTORY);
	path = path_join(chains, "chain.1.1-255");
	if (path_make_dirs(chains, 0755, NULL) < 0)
		abort();
	f = fopen(path, "w");
	if (!f || fwrite(bytes->text, 1, bytes->length, f) != bytes->length || fclose(f))
		abort();
	if (chain_reader_open(dir, &WINDOW_ALL, &r, NULL) < 0)
		return;
	(void)chain_reader_each(r, add_up, &sum);
	for (i = 0; i < chain_reader_trees(r); i++)
		read_tree(r, i);
	read_union(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(strbuf_done) struct strbuf bytes = STRBUF_INIT;
	_cleanup_(segment_freep) struct segment *s = NULL;
	_cleanup_free_ uint8_t *copy = malloc(size + 1);
	const uint64_t *totals;

	if (!copy || size > 1 << 16)
		return 0;
	memcpy(copy, data, size);
	if (!make(span_of(copy, size), &bytes) ||
	    segment_open_bytes(bytes.text, bytes.length, &s, NULL) < 0)
		return 0;
	read_chains(&bytes);
	(void)segment_totals(s, &totals, NULL);
	(void)segment_check(s, NULL);
	if (segment_load(s, NULL) == 0)
		roll(s);
	return 0;
}
