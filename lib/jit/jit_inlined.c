/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jit/jit_inlined.h"

#include "base/mem.h"

#include <stdlib.h>

enum { CALL_BYTES = 16, ROW_BYTES = 8 };

/* The name at @offset of @names, the last of which is terminated; NULL if it is outside. */
static const char *name_at(struct span names, uint32_t offset)
{
	return offset < names.left ? (const char *)names.at + offset : NULL;
}

/* Reads the calls; a caller comes before what it calls, so there is no cycle. */
static bool read_calls(struct span *in, struct span names, struct jit_inlined *to)
{
	uint32_t file = 0, function = 0;
	size_t i;

	for (i = 0; i < to->call_count; i++) {
		struct jit_inlined_call *c = &to->calls[i];

		if (span_u32(in, &c->caller) < 0 || span_u32(in, &c->line) < 0 ||
		    span_u32(in, &file) < 0 || span_u32(in, &function) < 0)
			return false;
		c->file = name_at(names, file);
		c->function = name_at(names, function);
		if (!c->file || !c->function || c->caller > i)
			return false;
		c->depth = c->caller ? to->calls[c->caller - 1].depth + 1 : 1;
		if (c->depth > JIT_INLINED_DEPTH_MAX)
			return false;
	}
	return true;
}

static bool read_rows(struct span *in, uint64_t size, struct jit_inlined *to)
{
	size_t i;

	for (i = 0; i < to->row_count; i++) {
		struct jit_inlined_row *r = &to->rows[i];

		if (span_u32(in, &r->offset) < 0 || span_u32(in, &r->call) < 0 ||
		    r->call > to->call_count || r->offset >= size ||
		    (i && r->offset <= r[-1].offset))
			return false;
	}
	return true;
}

static bool read_all(struct span in, uint64_t size, struct jit_inlined *to)
{
	uint32_t calls, rows;
	struct span names;

	if (in.left > JIT_INLINED_MAX || span_u32(&in, &calls) < 0 || span_u32(&in, &rows) < 0 ||
	    calls > in.left / CALL_BYTES || rows > (in.left - calls * CALL_BYTES) / ROW_BYTES)
		return false;
	names = in;
	(void)span_take(&names, (size_t)calls * CALL_BYTES + (size_t)rows * ROW_BYTES);
	if (names.left && names.at[names.left - 1])
		return false;
	to->calls = xcalloc((size_t)calls + 1, sizeof(*to->calls));
	to->rows = xcalloc((size_t)rows + 1, sizeof(*to->rows));
	to->call_count = calls;
	to->row_count = rows;
	return read_calls(&in, names, to) && read_rows(&in, size, to);
}

bool jit_inlined_read(struct span in, uint64_t size, struct jit_inlined *ret)
{
	*ret = (struct jit_inlined){ 0 };
	if (read_all(in, size, ret))
		return true;
	jit_inlined_done(ret);
	return false;
}

void jit_inlined_done(struct jit_inlined *in)
{
	free(in->calls);
	free(in->rows);
	*in = (struct jit_inlined){ 0 };
}

uint32_t jit_inlined_at(const struct jit_inlined *in, size_t row, unsigned int depth)
{
	uint32_t call = in->rows[row].call;

	while (call && in->calls[call - 1].depth > depth)
		call = in->calls[call - 1].caller;
	return call && in->calls[call - 1].depth == depth ? call : 0;
}
