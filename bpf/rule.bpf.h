/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the unwind rule for an address: in a file, in the tables that user space has loaded
 * (unwind_row.h), or in a cache of rules found before; in code that a process generated, in the
 * rows that user space has read from what the process wrote about it.
 */
#pragma once

#include "mapping.bpf.h"
#include "maps.bpf.h"
#include "unwinding.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct sample_page);
	__uint(max_entries, 1);
} pages SEC(".maps");

/* The rules of all tables. A row has the index of its rule. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct unwind_rule);
	__uint(max_entries, 1);
} rules SEC(".maps");

/* Memory for rows; user space adds chunks as it loads tables. */
struct chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__uint(value_size, sizeof(struct sample_chunk));
	__uint(max_entries, 1);
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, SAMPLE_CHUNKS_MAX);
	__array(values, struct chunk);
} chunks SEC(".maps");

/* A cache of found rules, per CPU and slot like the gates: a lookup touches memory in many places,
 * and most callers were callers a moment ago. */
enum { FOUND_SHIFT = 11 };

struct found_rule {
	__u64 offset; /* in the file */
	__u32 number; /* of its table */
	__u32 tables; /* control.tables when it was found */
	struct unwind_rule rule;
};
struct found {
	struct found_rule rules[1 << FOUND_SHIFT];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct found);
	__uint(max_entries, 1);
} found SEC(".maps");

/* Converts an offset in the file to a PC of its table; false if it is in no executable segment. */
static __always_inline bool table_pc(const struct sample_table *table, __u64 offset, __u64 *ret)
{
	int i;

	for (i = 0; i < UNWIND_SEGMENTS_MAX; i++) {
		if (offset - table->segments[i].offset < table->segments[i].size) {
			*ret = table->segments[i].pc + (offset - table->segments[i].offset);
			return true;
		}
	}
	return false;
}

/* Finds the rule for an offset in the file whose table is @number. Returns CHAIN_GOES_ON, or why
 * there is none. */
__noinline __u32 look_up_rule(struct found_rule *ret, __u64 offset, __u32 number)
{
	__u32 index, at, low, i, zero = 0;
	const struct sample_chunk *chunk;
	const struct sample_table *table;
	const struct sample_page *page;
	const struct unwind_rule *rule;
	__u64 pc;
	void *map;

	table = bpf_map_lookup_elem(&tables, &number);
	if (!ret || !number || !table)
		return number == SAMPLE_TABLE_WANTED   ? CHAIN_END_NOT_LOADED
		       : number == SAMPLE_TABLE_BUDGET ? CHAIN_END_NO_BUDGET
						       : CHAIN_END_NO_TABLE;
	if (!table_pc(table, offset, &pc) || pc >> UNWIND_PAGE_SHIFT >= table->page_count)
		return CHAIN_END_NO_RULE;
	index = table->first_page + (__u32)(pc >> UNWIND_PAGE_SHIFT);
	page = bpf_map_lookup_elem(&pages, &index);
	if (!page || !page->rows)
		return CHAIN_END_NO_RULE;
	index = page->chunk;
	map = bpf_map_lookup_elem(&chunks, &index);
	chunk = map ? bpf_map_lookup_elem(map, &zero) : NULL;
	if (!chunk)
		return CHAIN_END_NO_RULE;
	low = page->start;
	at = page->rows;
	for (i = 0; i < 17 && at > 1; i++) {
		__u32 half = at / 2;

		if (chunk->rows[(low + half) & (SAMPLE_CHUNK_ROWS - 1)].pc <= (pc & 0xffff))
			low += half;
		at -= half;
	}
	index = chunk->rows[low & (SAMPLE_CHUNK_ROWS - 1)].rule;
	rule = bpf_map_lookup_elem(&rules, &index);
	if (!rule)
		return CHAIN_END_NO_RULE;
	ret->rule = *rule;
	ret->offset = offset;
	ret->number = number;
	return CHAIN_GOES_ON;
}

/* Returns the rule for @address in @v; or NULL, and in *@end why there is none. */
static __always_inline const struct unwind_rule *find_rule(const struct run *run,
							   const struct unwinding *u,
							   const struct mapping *v, __u64 address,
							   __u32 *end)
{
	__u64 offset = address - v->start + v->offset;
	__u32 place = u->place;
	struct found *all = bpf_map_lookup_elem(&found, &place);
	struct found_rule *known;

	if (!all)
		return NULL;
	known = &all->rules[(offset ^ (__u64)v->table << 32) * 0x9e3779b97f4a7c15ULL >>
			    (64 - FOUND_SHIFT)];
	if (known->offset == offset && known->number == v->table &&
	    known->tables == run->scratch->tables)
		return &known->rule;
	*end = look_up_rule(known, offset, v->table);
	if (*end != CHAIN_GOES_ON)
		return NULL;
	known->tables = run->scratch->tables;
	return &known->rule;
}

/* How to unwind code of processes, by sample_code_key(). Locks: changed by system calls only. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, struct sample_code);
	__uint(max_entries, 1);
} codes SEC(".maps");

/* Copies the rule for the code at @address of process @tgid to @ret. Returns CHAIN_GOES_ON, or why
 * there is none. */
__noinline __u32 look_up_code(struct unwind_rule *ret, __u64 address, __u32 tgid)
{
	__u64 key = sample_code_key(tgid, address);
	const struct sample_code *code;
	__u32 low = 0, at, i;

	if (!ret || !control.codes || address >> SAMPLE_CODE_ADDRESS_BITS)
		return CHAIN_END_NO_CODE;
	code = bpf_map_lookup_elem(&codes, &key);
	if (!code)
		return CHAIN_END_NO_CODE;
	at = code->row_count;
	for (i = 0; i < 6 && at > 1; i++) {
		__u32 half = at / 2;

		if (code->rows[(low + half) & (SAMPLE_CODE_ROWS - 1)].pc <=
		    (address & ((1 << SAMPLE_CODE_SHIFT) - 1)))
			low += half;
		at -= half;
	}
	*ret = code->rules[code->rows[low & (SAMPLE_CODE_ROWS - 1)].rule & (SAMPLE_CODE_RULES - 1)];
	return code->key != key || unwind_is_hole(ret) ? CHAIN_END_NO_CODE : CHAIN_GOES_ON;
}
