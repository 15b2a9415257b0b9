/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jit/jit.h"

#include "base/arena.h"
#include "base/mem.h"
#include "jit/internal/code_row.h"
#include "unwind/unwind_code.h"

#include <string.h>

/* find_moved() looks at so many pieces at most: a process can make up millions. */
enum { MOVED_LOOK_MAX = 1024 };

struct jit {
	struct arena arena;	 /* the pieces and what they point at */
	struct jit_code **codes; /* all, as loaded */
	size_t count, room;
	struct code_row alive;	 /* those that have not ended */
	struct code_row placed;	 /* those at their own address, alive or not */
	struct jit_code **moved; /* those that ended and have another place; by time of the end */
	size_t moved_count, moved_room;
	uint64_t place; /* next free place */
	size_t detail_max;
	size_t dropped;
};

struct jit *jit_new(void)
{
	struct jit *j = xcalloc(1, sizeof(*j));

	j->place = JIT_PLACE_START;
	j->detail_max = JIT_DETAIL_MAX;
	return j;
}

void jit_free(struct jit *j)
{
	if (!j)
		return;
	free(j->codes);
	code_row_done(&j->alive);
	code_row_done(&j->placed);
	free(j->moved);
	arena_done(&j->arena);
	free(j);
}

static void end_code(struct jit *j, struct jit_code *code, uint64_t time)
{
	code->to = MAX(time, code->from);
	code_row_remove(&j->alive, code);
	if (code->place == code->address)
		return;
	array_grow(&j->moved, j->moved_count + 1, &j->moved_room);
	j->moved[j->moved_count++] = code;
}

/* The first piece of the row that overlaps @code, or NULL. */
static struct jit_code *overlapped(const struct code_row *r, const struct jit_code *code)
{
	struct jit_code *c = code_row_next(r, code->address);

	return c && c->address < code->address + code->size ? c : NULL;
}

/* The code's place: its own address, or a reserved one if that was used before. */
static bool place_code(struct jit *j, struct jit_code *code)
{
	if (!overlapped(&j->placed, code)) {
		code->place = code->address;
		code_row_add(&j->placed, code);
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

/* Whether @size more bytes are within @limit. */
static bool has_room(const struct jit *j, size_t size, size_t limit)
{
	return jit_bytes(j) <= limit && size <= limit - jit_bytes(j);
}

/* The memory that its lines take. Nearly always one method is in one file. */
static size_t lines_bytes(const struct jit_code *code)
{
	size_t i, bytes = code->line_count * sizeof(*code->lines);

	for (i = 0; i < code->line_count; i++)
		if (!i || strcmp(code->lines[i - 1].file, code->lines[i].file) != 0)
			bytes += strlen(code->lines[i].file) + 1;
	return bytes;
}

static const struct jit_line *copy_lines(struct jit *j, const struct jit_code *code)
{
	struct jit_line *lines = arena_alloc(&j->arena, code->line_count * sizeof(*lines));
	const char *file = NULL;
	size_t i;

	for (i = 0; i < code->line_count; i++) {
		lines[i] = code->lines[i];
		if (!file || strcmp(file, lines[i].file) != 0)
			file = arena_strdup(&j->arena, lines[i].file);
		lines[i].file = file;
	}
	return lines;
}

static const struct unwind_code_row *copy_rows(struct jit *j, const struct jit_code *code)
{
	struct unwind_code_row *rows = arena_alloc(&j->arena, code->row_count * sizeof(*rows));

	memcpy(rows, code->rows, code->row_count * sizeof(*rows));
	return rows;
}

static const uint8_t *copy_bytes(struct jit *j, const uint8_t *bytes, size_t size)
{
	return (const uint8_t *)arena_strndup(&j->arena, (const char *)bytes, size);
}

/* A copy in the table's memory, without its details if these are too many; NULL if there is no room
 * for its name. */
static struct jit_code *copy_code(struct jit *j, const struct jit_code *code)
{
	struct jit_code *copy;

	if (j->count == JIT_CODES_MAX ||
	    !has_room(j, sizeof(*copy) + strlen(code->name) + 1, JIT_BYTES_MAX))
		return NULL;
	copy = arena_alloc(&j->arena, sizeof(*copy));
	*copy = *code;
	copy->to = JIT_FOREVER;
	copy->name = arena_strdup(&j->arena, code->name);
	copy->bytes = NULL;
	copy->lines = NULL;
	copy->line_count = 0;
	copy->rows = NULL;
	copy->row_count = 0;
	copy->inlined = NULL;
	copy->inlined_bytes = 0;
	if (code->row_count && has_room(j, code->row_count * sizeof(*code->rows), j->detail_max)) {
		copy->rows = copy_rows(j, code);
		copy->row_count = code->row_count;
	}
	if (code->bytes && has_room(j, code->size, j->detail_max))
		copy->bytes = copy_bytes(j, code->bytes, code->size);
	if (code->line_count && has_room(j, lines_bytes(code), j->detail_max)) {
		copy->lines = copy_lines(j, code);
		copy->line_count = code->line_count;
	}
	if (code->inlined_bytes && has_room(j, code->inlined_bytes, j->detail_max)) {
		copy->inlined = copy_bytes(j, code->inlined, code->inlined_bytes);
		copy->inlined_bytes = code->inlined_bytes;
	}
	return copy;
}

/* The memory that its details take. */
static size_t detail_bytes(const struct jit_code *code)
{
	return lines_bytes(code) + code->row_count * sizeof(*code->rows) + code->inlined_bytes +
	       (code->bytes ? code->size : 0);
}

static void append_code(struct jit *j, struct jit_code *code)
{
	array_grow(&j->codes, j->count + 1, &j->room);
	j->codes[j->count++] = code;
	code_row_add(&j->alive, code);
}

/* Replaces @old by @code, which is the same code, if only that has details. The old piece remains
 * readable, because it may be being written. */
static void renew_code(struct jit *j, struct jit_code *old, const struct jit_code *code)
{
	struct jit_code *copy;

	if (!detail_bytes(code) || detail_bytes(old) ||
	    !has_room(j, detail_bytes(code), j->detail_max) || !(copy = copy_code(j, code)))
		return;
	copy->from = old->from;
	copy->late = old->late;
	copy->place = old->place;
	old->renewed = true;
	code_row_remove(&j->alive, old);
	if (old->place == old->address) {
		code_row_remove(&j->placed, old);
		code_row_add(&j->placed, copy);
	}
	append_code(j, copy);
}

static bool is_possible(const struct jit_code *code)
{
	return code->size && code->size <= JIT_SIZE_MAX && code->address < JIT_PLACE_START &&
	       code->address + code->size <= JIT_PLACE_START;
}

void jit_load(struct jit *j, const struct jit_code *code)
{
	struct jit_code *copy, *other;

	if (!is_possible(code)) {
		j->dropped++;
		return;
	}
	other = overlapped(&j->alive, code);
	if (other && is_same(other, code)) {
		renew_code(j, other, code);
		return;
	}
	while ((other = overlapped(&j->alive, code)))
		end_code(j, other, code->from);
	copy = copy_code(j, code);
	if (!copy || !place_code(j, copy)) {
		j->dropped++;
		return;
	}
	if (copy->late && copy->place == copy->address)
		copy->from = 0;
	append_code(j, copy);
}

void jit_limit_detail(struct jit *j, size_t bytes)
{
	j->detail_max = MIN(bytes, (size_t)JIT_DETAIL_MAX);
}

/* The living piece that starts at @address, or NULL. */
static struct jit_code *find_start(const struct jit *j, uint64_t address)
{
	struct jit_code *c = code_row_next(&j->alive, address);

	return c && c->address == address ? c : NULL;
}

void jit_unload(struct jit *j, uint64_t address, uint64_t time)
{
	struct jit_code *c = find_start(j, address);

	if (c)
		end_code(j, c, time);
}

void jit_move(struct jit *j, uint64_t address, uint64_t to, uint64_t time)
{
	_cleanup_free_ struct jit_line *lines = NULL;
	struct jit_code *old = find_start(j, address), code;
	size_t i;

	if (!old)
		return;
	code = *old;
	lines = xcalloc(code.line_count + 1, sizeof(*lines));
	for (i = 0; i < code.line_count; i++) {
		lines[i] = code.lines[i];
		lines[i].address += to - address;
	}
	end_code(j, old, time);
	code.address = to;
	code.from = time;
	code.lines = lines;
	jit_load(j, &code);
}

static void load_into(void *data, const struct jit_code *code)
{
	jit_load(data, code);
}

static void move_in(void *data, uint64_t address, uint64_t to, uint64_t time)
{
	jit_move(data, address, to, time);
}

static void unload_from(void *data, uint64_t address, uint64_t time)
{
	jit_unload(data, address, time);
}

void jit_sink_of(struct jit *j, struct jit_sink *ret)
{
	*ret = (struct jit_sink){ load_into, move_in, unload_from, j };
}

/* The code at another place that was at @pc at @time, or NULL. Code that ended earlier is before
 * the one that ended later. */
static const struct jit_code *find_moved(const struct jit *j, uint64_t pc, uint64_t time)
{
	size_t left = MIN(j->moved_count, (size_t)MOVED_LOOK_MAX), i = j->moved_count;

	for (; left && j->moved[i - 1]->to > time; left--, i--) {
		const struct jit_code *c = j->moved[i - 1];

		if (c->from <= time && pc - c->address < c->size)
			return c;
	}
	return NULL;
}

const struct jit_code *jit_find(const struct jit *j, uint64_t pc, uint64_t time)
{
	const struct jit_code *c = code_row_find(&j->alive, pc);

	if (c && c->from <= time)
		return c;
	c = code_row_find(&j->placed, pc);
	if (c && c->from <= time && time < c->to)
		return c;
	return find_moved(j, pc, time);
}

size_t jit_count(const struct jit *j)
{
	return j->count;
}

const struct jit_code *jit_at(const struct jit *j, size_t i)
{
	return j->codes[i];
}

size_t jit_bytes(const struct jit *j)
{
	/* Each piece is in three arrays, whose blocks may be half empty. */
	return j->arena.bytes + j->count * 5 * sizeof(*j->codes);
}

size_t jit_dropped(const struct jit *j)
{
	return j->dropped;
}
