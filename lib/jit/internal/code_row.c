/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jit/internal/code_row.h"

#include "base/mem.h"
#include "jit/jit_code.h"

#include <string.h>

/* Adding a piece to an array of a million would move megabytes; to a block of these, 2 KiB. */
enum { BLOCK_CODES = 256 };

struct code_block {
	size_t count;
	struct jit_code *codes[BLOCK_CODES];
};

static uint64_t end_of(const struct jit_code *c)
{
	return c->address + c->size;
}

/* Index of the first block that ends after @address. */
static size_t find_block(const struct code_row *r, uint64_t address)
{
	return FIRST_NOT(i, 0, r->count,
			 end_of(r->blocks[i]->codes[r->blocks[i]->count - 1]) <= address);
}

/* Index of the first piece of a block that ends after @address. */
static size_t find_code(const struct code_block *b, uint64_t address)
{
	return FIRST_NOT(i, 0, b->count, end_of(b->codes[i]) <= address);
}

struct jit_code *code_row_next(const struct code_row *r, uint64_t address)
{
	size_t i = find_block(r, address);

	return i < r->count ? r->blocks[i]->codes[find_code(r->blocks[i], address)] : NULL;
}

struct jit_code *code_row_find(const struct code_row *r, uint64_t address)
{
	struct jit_code *c = code_row_next(r, address);

	return c && c->address <= address ? c : NULL;
}

/* Inserts an empty block as the @at-th one. */
static struct code_block *insert_block(struct code_row *r, size_t at)
{
	array_grow(&r->blocks, r->count + 1, &r->room);
	memmove(r->blocks + at + 1, r->blocks + at, (r->count - at) * sizeof(*r->blocks));
	r->count++;
	return r->blocks[at] = xcalloc(1, sizeof(**r->blocks));
}

/* Moves the upper half of a full block to a new one after it. */
static void split_block(struct code_row *r, size_t at)
{
	struct code_block *high = insert_block(r, at + 1), *low = r->blocks[at];

	high->count = low->count / 2;
	low->count -= high->count;
	memcpy(high->codes, low->codes + low->count, high->count * sizeof(*high->codes));
}

/* Index of the block that @code belongs to, which has room. */
static size_t make_room(struct code_row *r, const struct jit_code *code)
{
	size_t at = find_block(r, code->address);

	/* After all others: ascending addresses fill each block. */
	if (at == r->count) {
		if (!at || r->blocks[at - 1]->count == BLOCK_CODES)
			(void)insert_block(r, at);
		return r->count - 1;
	}
	if (r->blocks[at]->count < BLOCK_CODES)
		return at;
	split_block(r, at);
	return find_block(r, code->address);
}

void code_row_add(struct code_row *r, struct jit_code *code)
{
	size_t block = make_room(r, code);
	struct code_block *b = r->blocks[block];
	size_t at = find_code(b, code->address);

	memmove(b->codes + at + 1, b->codes + at, (b->count - at) * sizeof(*b->codes));
	b->codes[at] = code;
	b->count++;
}

void code_row_remove(struct code_row *r, const struct jit_code *code)
{
	size_t i = find_block(r, code->address), at;
	struct code_block *b = r->blocks[i];

	at = find_code(b, code->address);
	b->count--;
	memmove(b->codes + at, b->codes + at + 1, (b->count - at) * sizeof(*b->codes));
	if (b->count)
		return;
	free(b);
	r->count--;
	memmove(r->blocks + i, r->blocks + i + 1, (r->count - i) * sizeof(*r->blocks));
}

void code_row_done(struct code_row *r)
{
	while (r->count)
		free(r->blocks[--r->count]);
	free(r->blocks);
}
