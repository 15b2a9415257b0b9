/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jit/jit.h"

#include "base/arena.h"
#include "base/mem.h"

#include <string.h>

/* Pieces that do not overlap, sorted by address. */
struct row {
	struct jit_code **codes;
	size_t count, room;
};

struct jit {
	struct arena arena;	 /* the pieces and what they point at */
	struct jit_code **codes; /* all, as loaded */
	size_t count, room;
	struct row alive;  /* those that have not ended */
	struct row placed; /* those at their own address, alive or not */
	struct row moved;  /* those that ended and have another place; by time of the end */
	uint64_t place;	   /* next free place */
	size_t bytes, lines;
	size_t dropped;
};

struct jit *jit_new(void)
{
	struct jit *j = xcalloc(1, sizeof(*j));

	j->place = JIT_PLACE_START;
	return j;
}

void jit_free(struct jit *j)
{
	if (!j)
		return;
	free(j->codes);
	free(j->alive.codes);
	free(j->placed.codes);
	free(j->moved.codes);
	arena_done(&j->arena);
	free(j);
}

/* Index of the first piece that ends after @address. */
static size_t row_seek(const struct row *r, uint64_t address)
{
	size_t low = 0, n = r->count;

	while (n) {
		size_t half = n / 2;
		const struct jit_code *c = r->codes[low + half];

		if (c->address + c->size <= address) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}

static struct jit_code *row_find(const struct row *r, uint64_t address)
{
	size_t i = row_seek(r, address);

	return i < r->count && r->codes[i]->address <= address ? r->codes[i] : NULL;
}

static void row_insert(struct row *r, size_t at, struct jit_code *code)
{
	array_grow(&r->codes, r->count + 1, &r->room);
	memmove(r->codes + at + 1, r->codes + at, (r->count - at) * sizeof(*r->codes));
	r->codes[at] = code;
	r->count++;
}

static void row_remove(struct row *r, size_t at, size_t n)
{
	if (!n)
		return;
	memmove(r->codes + at, r->codes + at + n, (r->count - at - n) * sizeof(*r->codes));
	r->count -= n;
}

static bool overlaps(const struct row *r, size_t at, const struct jit_code *code)
{
	return at < r->count && r->codes[at]->address < code->address + code->size;
}

/* Ends @n living pieces, from index @at on, at @time. */
static void end_codes(struct jit *j, size_t at, size_t n, uint64_t time)
{
	size_t i;

	for (i = at; i < at + n; i++) {
		struct jit_code *c = j->alive.codes[i];

		c->to = MAX(time, c->from);
		if (c->place != c->address)
			row_insert(&j->moved, j->moved.count, c);
	}
	row_remove(&j->alive, at, n);
}

/* The code's place: its own address, or a reserved one if that was used before. */
static bool place_code(struct jit *j, struct jit_code *code)
{
	size_t at = row_seek(&j->placed, code->address);

	if (!overlaps(&j->placed, at, code)) {
		code->place = code->address;
		row_insert(&j->placed, at, code);
		return true;
	}
	if (code->size + 16 > JIT_PLACE_END - j->place)
		return false;
	code->place = j->place;
	j->place += (code->size + 15) & ~(uint64_t)15;
	return true;
}

static bool is_same(const struct jit_code *a, const struct jit_code *b)
{
	return a->address == b->address && a->size == b->size && !strcmp(a->name, b->name);
}

static const struct jit_line *copy_lines(struct jit *j, const struct jit_code *code)
{
	struct jit_line *lines;
	const char *file = NULL;
	size_t i;

	if (!code->line_count)
		return NULL;
	lines = arena_alloc(&j->arena, code->line_count * sizeof(*lines));
	for (i = 0; i < code->line_count; i++) {
		lines[i] = code->lines[i];
		/* Nearly always one method is in one file. */
		if (!file || strcmp(file, lines[i].file) != 0)
			file = arena_strdup(&j->arena, lines[i].file);
		lines[i].file = file;
	}
	j->lines += code->line_count;
	return lines;
}

/* A copy in the table's memory, without bytes or lines if the limits are reached. */
static struct jit_code *copy_code(struct jit *j, const struct jit_code *code)
{
	struct jit_code *copy = arena_alloc(&j->arena, sizeof(*copy));

	*copy = *code;
	copy->to = JIT_FOREVER;
	copy->name = arena_strdup(&j->arena, code->name);
	copy->bytes = NULL;
	if (code->bytes && j->bytes + code->size <= JIT_BYTES_MAX) {
		copy->bytes = (const uint8_t *)arena_strndup(&j->arena, (const char *)code->bytes,
							     code->size);
		j->bytes += code->size;
	}
	if (j->lines + code->line_count > JIT_LINES_MAX)
		copy->line_count = 0;
	copy->lines = copy_lines(j, copy);
	return copy;
}

void jit_load(struct jit *j, const struct jit_code *code)
{
	struct jit_code *copy;
	size_t at, n = 0;

	if (!code->size || code->size > JIT_SIZE_MAX || code->address > UINT64_MAX - code->size ||
	    code->address + code->size > JIT_PLACE_START || j->count == JIT_CODES_MAX) {
		j->dropped++;
		return;
	}
	at = row_seek(&j->alive, code->address);
	if (overlaps(&j->alive, at, code) && is_same(j->alive.codes[at], code))
		return;
	while (overlaps(&j->alive, at + n, code))
		n++;
	end_codes(j, at, n, code->from);
	copy = copy_code(j, code);
	if (!place_code(j, copy)) {
		j->dropped++;
		return;
	}
	if (copy->late && copy->place == copy->address)
		copy->from = 0;
	array_grow(&j->codes, j->count + 1, &j->room);
	j->codes[j->count++] = copy;
	row_insert(&j->alive, at, copy);
}

/* Index of the living piece that starts at @address. */
static bool find_start(const struct jit *j, uint64_t address, size_t *ret)
{
	*ret = row_seek(&j->alive, address);
	return *ret < j->alive.count && j->alive.codes[*ret]->address == address;
}

void jit_unload(struct jit *j, uint64_t address, uint64_t time)
{
	size_t at;

	if (find_start(j, address, &at))
		end_codes(j, at, 1, time);
}

void jit_move(struct jit *j, uint64_t address, uint64_t to, uint64_t time)
{
	_cleanup_free_ struct jit_line *lines = NULL;
	struct jit_code code;
	size_t at, i;

	if (!find_start(j, address, &at))
		return;
	code = *j->alive.codes[at];
	lines = xcalloc(code.line_count + 1, sizeof(*lines));
	for (i = 0; i < code.line_count; i++) {
		lines[i] = code.lines[i];
		lines[i].address += to - address;
	}
	end_codes(j, at, 1, time);
	code.address = to;
	code.from = time;
	code.lines = lines;
	jit_load(j, &code);
}

const struct jit_code *jit_find(const struct jit *j, uint64_t pc, uint64_t time)
{
	const struct jit_code *c = row_find(&j->alive, pc);
	size_t i;

	if (c && c->from <= time)
		return c;
	c = row_find(&j->placed, pc);
	if (c && c->from <= time && time < c->to)
		return c;
	/* Code that ended earlier is before this one. */
	for (i = j->moved.count; i-- && j->moved.codes[i]->to > time;) {
		c = j->moved.codes[i];
		if (c->from <= time && time < c->to && pc - c->address < c->size)
			return c;
	}
	return NULL;
}

size_t jit_count(const struct jit *j)
{
	return j->count;
}

const struct jit_code *jit_at(const struct jit *j, size_t i)
{
	return j->codes[i];
}

size_t jit_dropped(const struct jit *j)
{
	return j->dropped;
}
