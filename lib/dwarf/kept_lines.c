/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/kept_lines.h"

#include "base/macro.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The number of a file, whose name is one of ->names. */
static uint32_t file_number(struct kept_lines *l, const char *file)
{
	size_t i;

	/* Neighbours are mostly of the file that was added last. */
	for (i = l->file_count; i > 0; i--)
		if (l->files[i - 1] == file)
			return (uint32_t)i - 1;
	array_grow(&l->files, l->file_count + 1, &l->file_room);
	l->files[l->file_count] = file;
	return (uint32_t)l->file_count++;
}

static bool is_same_call(const struct kept_call *a, const struct kept_call *b)
{
	return a->caller == b->caller && a->function == b->function && a->file == b->file &&
	       a->line == b->line && a->start == b->start;
}

/* The number plus 1 of a call in the call with the number @caller. */
static uint32_t call_number(struct kept_lines *l, const struct kept_call *call, uint32_t caller)
{
	const struct kept_call own = { caller, intern(&l->names, call->function),
				       intern(&l->names, call->file), call->line, call->start };
	uint64_t hash = hash_add(hash_add((uintptr_t)own.function, caller), own.start);
	uintptr_t number;

	hash = hash_add(hash_add(hash, (uintptr_t)own.file), own.line);
	map_for_each_of(&l->call_numbers, hash,
			number) if (is_same_call(&l->calls[number - 1],
						 &own)) return (uint32_t)number;
	if (own.file)
		(void)file_number(l, own.file);
	array_grow(&l->calls, l->call_count + 1, &l->call_room);
	l->calls[l->call_count++] = own;
	map_add(&l->call_numbers, hash, (void *)(uintptr_t)l->call_count);
	return (uint32_t)l->call_count;
}

void kept_lines_add(struct kept_lines *l, const struct kept_code *code)
{
	struct kept_line row = { .address = code->address };
	const struct kept_line *last;
	size_t i;

	if (code->line) {
		row.file = file_number(l, intern(&l->names, code->file));
		row.line = code->line;
		row.text = code->text;
	}
	for (i = code->call_count; i > 0; i--)
		row.call = call_number(l, &code->calls[i - 1], row.call);
	/* What follows a function may be another one. */
	if (l->count && l->list[l->count - 1].address == row.address)
		l->count--;
	last = l->count ? &l->list[l->count - 1] : NULL;
	if (last && last->line == row.line && last->file == row.file && last->call == row.call)
		return;
	array_grow(&l->list, l->count + 1, &l->room);
	l->list[l->count++] = row;
}

/* --- merging --- */

/* The calls of a row, innermost first. */
struct chain {
	struct kept_call *list;
	size_t count, room;
};

/* What @row of @l says of the code at @address; @chain holds its calls. */
static struct kept_code code_of(const struct kept_lines *l, const struct kept_line *row,
				uint64_t address, struct chain *chain)
{
	struct kept_code code = { .address = address, .line = row->line, .text = row->text };
	uint32_t call;

	chain->count = 0;
	for (call = row->call; call; call = l->calls[call - 1].caller) {
		array_grow(&chain->list, chain->count + 1, &chain->room);
		chain->list[chain->count++] = l->calls[call - 1];
	}
	code.file = row->line ? l->files[row->file] : NULL;
	code.calls = chain->list;
	code.call_count = chain->count;
	return code;
}

static bool says_something(const struct kept_line *row)
{
	return row->line || row->call;
}

/* Adds the code at @address, which @older and @newer describe. */
static void merge_row(const struct kept_lines *older, const struct kept_line *old,
		      const struct kept_lines *newer, const struct kept_line *new, uint64_t address,
		      struct kept_lines *ret, struct chain *chain)
{
	const bool is_new = says_something(new);
	struct kept_code code =
		is_new ? code_of(newer, new, address, chain) : code_of(older, old, address, chain);

	if (is_new && !code.text && old->line && old->line == code.line &&
	    !strcmp(older->files[old->file], code.file))
		code.text = old->text;
	kept_lines_add(ret, &code);
}

void kept_lines_merge(const struct kept_lines *older, const struct kept_lines *newer,
		      struct kept_lines *ret)
{
	static const struct kept_line nothing;
	const struct kept_line *old = &nothing, *new = &nothing;
	struct chain chain = { 0 };
	size_t i = 0, j = 0;

	while (i < older->count || j < newer->count) {
		const uint64_t a = i < older->count ? older->list[i].address : UINT64_MAX,
			       b = j < newer->count ? newer->list[j].address : UINT64_MAX;

		if (i < older->count && a <= b)
			old = &older->list[i++];
		if (j < newer->count && b <= a)
			new = &newer->list[j++];
		merge_row(older, old, newer, new, MIN(a, b), ret, &chain);
	}
	free(chain.list);
}

const struct kept_line *kept_lines_find(const struct kept_lines *l, uint64_t address)
{
	size_t after = FIRST_NOT(i, 0, l->count, l->list[i].address <= address);

	return after && says_something(&l->list[after - 1]) ? &l->list[after - 1] : NULL;
}

void kept_lines_done(struct kept_lines *l)
{
	free(l->list);
	free(l->files);
	free(l->calls);
	map_done(&l->call_numbers);
	intern_done(&l->names);
	*l = (struct kept_lines){ 0 };
}
