/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkforeign ABI FILE...: rewrites native sample files in place, in the layout of the machine that
 * the file ABI describes. Only space is reserved for the hash table, because no importer reads it.
 */
#include "base/mem.h"
#include "file/path.h"
#include "sfile/abi.h"
#include "sfile/sfile.h"

#include <stdio.h>
#include <string.h>

/* Stores an integer as that machine would. */
static void put(const struct abi *abi, uint8_t *at, enum abi_field size, uint64_t value)
{
	uint32_t n = abi->of[size], i;

	for (i = 0; i < n; i++)
		at[abi->of[ABI_LITTLE_ENDIAN] ? i : n - 1 - i] = (uint8_t)(value >> 8 * i);
}

static void put_header(const struct abi *abi, uint8_t *at, const struct sfile_header *h)
{
	uint64_t mhz;

	memcpy(&mhz, &h->cpu_mhz, sizeof(mhz));
	memcpy(at + abi->of[ABI_HEADER_MAGIC], "DAE\n", 4);
#define PUT(field, size, value) put(abi, at + abi->of[ABI_HEADER_##field], ABI_SIZEOF_##size, value)
	PUT(VERSION, U32, h->version);
	PUT(CPU_TYPE, U32, h->cpu_type);
	PUT(EVENT, U32, h->event);
	PUT(UNIT_MASK, U32, h->unit_mask);
	PUT(COUNT, U32, h->count);
	PUT(IS_KERNEL, U32, h->is_kernel);
	PUT(CPU_SPEED, DOUBLE, mhz);
	PUT(MTIME, U64, h->mtime);
	PUT(CG_TO_IS_KERNEL, U32, h->cg_to_is_kernel);
	PUT(ANON_START, U64, h->anon_start);
	PUT(CG_TO_ANON_START, U64, h->cg_to_anon_start);
#undef PUT
}

static int rewrite(const struct abi *abi, const char *path, struct error *err)
{
	const uint32_t header = abi->of[ABI_SIZEOF_HEADER], descr = abi->of[ABI_SIZEOF_DESCR];
	const uint32_t node = abi->of[ABI_SIZEOF_NODE];
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	_cleanup_free_ uint8_t *bytes = NULL;
	_cleanup_fclose_ FILE *out = NULL;
	const struct odb_node *nodes;
	size_t count, slots = 128, size, i;

	if (sfile_open(path, &sf, err) < 0)
		return -1;
	nodes = odb_nodes(sfile_odb(sf), &count);
	while (slots <= count)
		slots *= 2;
	size = header + descr + slots * (node + abi->of[ABI_SIZEOF_INDEX]);
	bytes = xcalloc(1, size);
	put_header(abi, bytes, sfile_header(sf));
	put(abi, bytes + header + abi->of[ABI_DESCR_SIZE], ABI_SIZEOF_NODE_NR, slots);
	put(abi, bytes + header + abi->of[ABI_DESCR_CURRENT], ABI_SIZEOF_NODE_NR, count + 1);
	for (i = 0; i < count; i++) {
		uint8_t *at = bytes + header + descr + (i + 1) * node;

		put(abi, at + abi->of[ABI_NODE_KEY], ABI_SIZEOF_KEY, nodes[i].key);
		put(abi, at + abi->of[ABI_NODE_VALUE], ABI_SIZEOF_VALUE, nodes[i].value);
	}
	out = fopen(path, "we");
	return out && fwrite(bytes, 1, size, out) == size ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct abi abi;
	int i;

	if (argc < 3 || abi_read(argv[1], &abi, &err) < 0) {
		(void)fprintf(stderr, "usage: mkforeign ABI FILE...: %s\n", err.text);
		return 2;
	}
	for (i = 2; i < argc; i++) {
		if (rewrite(&abi, argv[i], &err) < 0) {
			(void)fprintf(stderr, "mkforeign: %s: %s\n", argv[i], err.text);
			return 1;
		}
	}
	return 0;
}
