/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How to unwind generated code, in the map of the program in the kernel; skips where such a program
 * cannot be had. */
#include "test.h"

#include "driver/bpf/code_store.h"

#include <bpf/bpf.h>
#include <string.h>

static struct sampler *open_sampler(struct error *err)
{
	const struct sampler_config config = { .keys = 4096, .depth = 64, .tables = 256 };
	struct sampler *s = NULL;

	return sampler_new(&config, &s, err) < 0 ? NULL : s;
}

static struct unwind_code_row row(uint32_t offset, int32_t cfa_offset)
{
	return (struct unwind_code_row){ offset,
					 { .cfa = cfa_offset ? UNWIND_CFA_REG : UNWIND_CFA_NONE,
					   .cfa_offset = cfa_offset } };
}

static void put(struct code_store *store, uint32_t tgid, uint64_t address, uint64_t size,
		const struct unwind_code_row *rows, size_t count)
{
	code_store_put(store, &(struct unwind_code){ .tgid = tgid,
						     .uid = tgid / 100,
						     .address = address,
						     .size = size,
						     .rows = rows,
						     .row_count = count });
}

/* The offset of the CFA at @address, as the program finds it; 0 if nothing is known. */
static int32_t cfa_at(const struct sampler *s, uint32_t tgid, uint64_t address)
{
	uint64_t key = sample_code_key(tgid, address);
	struct sample_code part;
	uint32_t i = 0;

	if (bpf_map_lookup_elem(sampler_maps(s)->codes, &key, &part) < 0)
		return 0;
	CHECK(part.row_count && part.row_count <= SAMPLE_CODE_ROWS && !part.rows[0].pc);
	CHECK_EQ(part.key, key);
	while (i + 1 < part.row_count && part.rows[i + 1].pc <= (address & 1023))
		i++;
	return part.rules[part.rows[i].rule].cfa_offset;
}

static void code_is_next_to_code(void)
{
	const struct unwind_code_row first[] = { row(0, 8), row(4, 16), row(2000, 24) };
	const struct unwind_code_row second[] = { row(0, 32) };
	struct error err = ERROR_INIT;
	_cleanup_(sampler_freep) struct sampler *s = open_sampler(&err);
	struct code_store *store;

	if (!s)
		SKIP("no BPF here");
	store = code_store_new(s);
	put(store, 7, 0x10100, 3000, first, 3);
	CHECK_EQ(cfa_at(s, 7, 0x100ff), 0);
	CHECK_EQ(cfa_at(s, 7, 0x10100), 8);
	CHECK_EQ(cfa_at(s, 7, 0x10103), 8);
	CHECK_EQ(cfa_at(s, 7, 0x10104), 16);
	CHECK_EQ(cfa_at(s, 7, 0x10100 + 1999), 16);
	CHECK_EQ(cfa_at(s, 7, 0x10100 + 2000), 24);
	CHECK_EQ(cfa_at(s, 7, 0x10100 + 2999), 24);
	CHECK_EQ(cfa_at(s, 7, 0x10100 + 3000), 0);
	CHECK_EQ(cfa_at(s, 8, 0x10100), 0);
	/* In the middle of it, and next to it. */
	put(store, 7, 0x10110, 16, second, 1);
	put(store, 7, 0x10100 + 3000, 8, second, 1);
	CHECK_EQ(cfa_at(s, 7, 0x1010f), 16);
	CHECK_EQ(cfa_at(s, 7, 0x10110), 32);
	CHECK_EQ(cfa_at(s, 7, 0x1011f), 32);
	CHECK_EQ(cfa_at(s, 7, 0x10120), 16);
	CHECK_EQ(cfa_at(s, 7, 0x10100 + 2999), 24);
	CHECK_EQ(cfa_at(s, 7, 0x10100 + 3007), 32);
	CHECK_EQ(cfa_at(s, 7, 0x10100 + 3008), 0);
	/* Code that nothing describes takes the place of all. */
	put(store, 7, 0x10000, 4096, NULL, 0);
	CHECK_EQ(cfa_at(s, 7, 0x10104), 0);
	CHECK_EQ(code_store_dense(store), 0);
	code_store_free(store);
}

static void what_is_not_dense_fits(void)
{
	static struct unwind_code_row rows[200];
	struct error err = ERROR_INIT;
	_cleanup_(sampler_freep) struct sampler *s = open_sampler(&err);
	struct code_store *store;
	uint32_t i;

	if (!s)
		SKIP("no BPF here");
	store = code_store_new(s);
	for (i = 0; i < 200; i++)
		rows[i] = row(i, 8 + (int32_t)(i % 2) * 8);
	put(store, 7, 0x10000, 64, rows, SAMPLE_CODE_ROWS - 1); /* and a row after it */
	CHECK_EQ(cfa_at(s, 7, 0x10000 + SAMPLE_CODE_ROWS - 2), 8);
	CHECK_EQ(code_store_refused(store), 0);
	put(store, 7, 0x10000, 200, rows, 200);
	CHECK_EQ(cfa_at(s, 7, 0x10000), 0);
	CHECK_EQ(code_store_dense(store), 1);
	for (i = 0; i < 200; i++)
		rows[i] = row(i * 2, 8 + (int32_t)i * 8);
	put(store, 7, 0x10000, 100, rows, SAMPLE_CODE_RULES - 1); /* and that for the rest */
	CHECK_EQ(cfa_at(s, 7, 0x10002), 16);
	put(store, 7, 0x10000, 100, rows, SAMPLE_CODE_RULES + 1);
	CHECK_EQ(cfa_at(s, 7, 0x10002), 0);
	CHECK_EQ(code_store_dense(store), 2); /* the counter unwind_code_dense */
	CHECK_EQ(code_store_refused(store), 0);
	code_store_free(store);
}

static void a_user_has_half_of_what_others_leave(void)
{
	const struct unwind_code_row rows[] = { row(0, 8) };
	struct error err = ERROR_INIT;
	_cleanup_(sampler_freep) struct sampler *s = open_sampler(&err);
	struct code_store *store;
	uint64_t refused;
	uint32_t all, i;

	if (!s)
		SKIP("no BPF here");
	store = code_store_new(s);
	all = sampler_codes_max(s);
	for (i = 0; i < all; i++)
		put(store, 100 + i % 2, (i + 1) << 10, 1024, rows, 1);
	CHECK_EQ(code_store_refused(store), all / 2); /* the counter unwind_code_refused */
	CHECK_EQ(cfa_at(s, 100, 1 << 10), 8);
	CHECK_EQ(cfa_at(s, 100 + (all - 1) % 2, (uint64_t)all << 10), 0);
	put(store, 200, 1 << 10, 1024, rows, 1);
	CHECK_EQ(cfa_at(s, 200, 1 << 10), 8);
	/* A process that is over leaves its part to the other one. */
	put(store, 100, 0, 0, NULL, 0);
	CHECK_EQ(cfa_at(s, 100, 1 << 10), 0);
	CHECK_EQ(cfa_at(s, 101, 2 << 10), 8);
	put(store, 101, (uint64_t)all << 10, 1024, rows, 1);
	CHECK_EQ(cfa_at(s, 101, (uint64_t)all << 10), 8);
	/* A single process leaves a quarter to the others of its user. */
	put(store, 200, 0, 0, NULL, 0);
	put(store, 101, 0, 0, NULL, 0);
	refused = code_store_refused(store);
	for (i = 0; i < all; i++)
		put(store, 300, (i + 1) << 10, 1024, rows, 1);
	CHECK_EQ(code_store_refused(store) - refused, all - all / 2 / 4 * 3);
	put(store, 301, 1 << 10, 1024, rows, 1);
	CHECK_EQ(cfa_at(s, 301, 1 << 10), 8);
	/* Addresses that no process has. */
	put(store, 200, UINT64_MAX - 10, 100, rows, 1);
	put(store, 200, 1ULL << 48, 100, rows, 1);
	code_store_free(store);
}

TESTS(T(code_is_next_to_code), T(what_is_not_dense_fits), T(a_user_has_half_of_what_others_leave))
