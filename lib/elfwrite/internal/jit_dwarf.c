/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elfwrite/internal/jit_dwarf.h"

#include "base/mem.h"
#include "jit/jit.h"

#include <dwarf.h>
#include <string.h>

enum {
	ADDRESS = 8, /* bytes of an address */
	OPCODE_BASE = 10,
	ABBREV_UNIT = 1
};

static void add_u8(struct strbuf *b, unsigned int v)
{
	uint8_t byte = (uint8_t)v;

	strbuf_add(b, &byte, sizeof(byte));
}

static void add_u16(struct strbuf *b, uint16_t v)
{
	strbuf_add(b, &v, sizeof(v));
}

static void add_u32(struct strbuf *b, uint32_t v)
{
	strbuf_add(b, &v, sizeof(v));
}

static void add_u64(struct strbuf *b, uint64_t v)
{
	strbuf_add(b, &v, sizeof(v));
}

static void add_text(struct strbuf *b, const char *s)
{
	strbuf_add(b, s, strlen(s) + 1);
}

static void add_uleb(struct strbuf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		add_u8(b, (v & 0x7f) | 0x80);
	add_u8(b, (unsigned int)v);
}

static void add_sleb(struct strbuf *b, int64_t v)
{
	for (; v < -0x40 || v >= 0x40; v >>= 7)
		add_u8(b, (v & 0x7f) | 0x80);
	add_u8(b, v & 0x7f);
}

/* Leaves room for a length to be known later; returns where. */
static size_t open_length(struct strbuf *b)
{
	add_u32(b, 0);
	return b->length;
}

static void close_length(struct strbuf *b, size_t at)
{
	uint32_t length = (uint32_t)(b->length - at);

	memcpy(b->text + at - sizeof(length), &length, sizeof(length));
}

/* The files of a unit, numbered from 1 in the order they come up. */
struct file_table {
	const char **names;
	size_t count, room;
};

static size_t file_number(struct file_table *t, const char *name)
{
	size_t i;

	/* Neighbours share a file: the newest is the likeliest. */
	for (i = t->count; i--;)
		if (t->names[i] == name || !strcmp(t->names[i], name))
			return i + 1;
	array_grow(&t->names, t->count + 1, &t->room);
	t->names[t->count++] = name;
	return t->count;
}

static void add_set_address(struct strbuf *b, uint64_t address)
{
	add_u8(b, 0);
	add_uleb(b, 1 + ADDRESS);
	add_u8(b, DW_LNE_set_address);
	add_u64(b, address);
}

/* The line program of one piece of code: a sequence of its own. */
static void add_sequence(struct strbuf *b, struct file_table *files, const struct jit_code *c)
{
	size_t i, file = 1;
	uint32_t line = 1;

	for (i = 0; i < c->line_count; i++) {
		const struct jit_line *l = &c->lines[i];
		uint64_t offset = l->address - c->address;
		size_t number = file_number(files, l->file);

		if (offset >= c->size)
			continue;
		add_set_address(b, c->place + offset);
		if (number != file) {
			add_u8(b, DW_LNS_set_file);
			add_uleb(b, number);
			file = number;
		}
		add_u8(b, DW_LNS_advance_line);
		add_sleb(b, (int64_t)l->line - line);
		line = l->line;
		add_u8(b, DW_LNS_copy);
	}
	add_set_address(b, c->place + c->size);
	add_u8(b, 0);
	add_uleb(b, 1);
	add_u8(b, DW_LNE_end_sequence);
}

static void add_line_header(struct strbuf *b, const struct file_table *files)
{
	/* Operands of the standard opcodes 1 to 9. */
	static const uint8_t operands[OPCODE_BASE - 1] = { 0, 1, 1, 1, 1, 0, 0, 0, 1 };
	size_t i, length = open_length(b);

	add_u8(b, 1); /* shortest instruction */
	add_u8(b, 1); /* operations of an instruction */
	add_u8(b, 1); /* rows are statements */
	add_u8(b, 1); /* special opcodes, of which none is used: line base, range */
	add_u8(b, 1);
	add_u8(b, OPCODE_BASE);
	strbuf_add(b, operands, sizeof(operands));
	add_u8(b, 0); /* no directories */
	for (i = 0; i < files->count; i++) {
		/* An empty name would end the table. */
		add_text(b, *files->names[i] ? files->names[i] : "?");
		strbuf_add(b, "\0\0\0", 3); /* directory, time, size */
	}
	add_u8(b, 0);
	close_length(b, length);
}

static void add_line_unit(struct strbuf *b, const struct jit_code *const *codes, size_t n)
{
	_cleanup_(strbuf_done) struct strbuf program = STRBUF_INIT;
	struct file_table files = { 0 };
	size_t i, length;

	for (i = 0; i < n; i++)
		if (codes[i]->line_count)
			add_sequence(&program, &files, codes[i]);
	length = open_length(b);
	add_u16(b, 4);
	add_line_header(b, &files);
	strbuf_add(b, program.text, program.length);
	close_length(b, length);
	free(files.names);
}

static void add_abbrev(struct strbuf *b)
{
	static const uint8_t attributes[][2] = { { DW_AT_stmt_list, DW_FORM_sec_offset },
						 { DW_AT_low_pc, DW_FORM_addr },
						 { DW_AT_high_pc, DW_FORM_data8 },
						 { DW_AT_name, DW_FORM_string },
						 { 0, 0 } };
	size_t i;

	add_uleb(b, ABBREV_UNIT);
	add_uleb(b, DW_TAG_compile_unit);
	add_u8(b, DW_CHILDREN_no);
	for (i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		add_uleb(b, attributes[i][0]);
		add_uleb(b, attributes[i][1]);
	}
	add_u8(b, 0);
}

static void add_info_unit(struct strbuf *b, size_t line, uint64_t start, uint64_t end)
{
	size_t length = open_length(b);

	add_u16(b, 4);
	add_u32(b, 0); /* abbreviations start there */
	add_u8(b, ADDRESS);
	add_uleb(b, ABBREV_UNIT);
	add_u32(b, (uint32_t)line);
	add_u64(b, start);
	add_u64(b, end - start);
	add_text(b, "code made at run time");
	close_length(b, length);
}

static void add_aranges_unit(struct strbuf *b, size_t info, uint64_t start, uint64_t end)
{
	size_t length = open_length(b);

	add_u16(b, 2);
	add_u32(b, (uint32_t)info);
	add_u8(b, ADDRESS);
	add_u8(b, 0);  /* no segments */
	add_u32(b, 0); /* tuples start at a multiple of their size */
	add_u64(b, start);
	add_u64(b, end - start);
	add_u64(b, 0);
	add_u64(b, 0);
	close_length(b, length);
}

void jit_dwarf_add(struct jit_dwarf *d, const struct jit_code *const *codes, size_t n)
{
	size_t i, info = d->info.length, line = d->line.length;
	uint64_t start = UINT64_MAX, end = 0;

	for (i = 0; i < n; i++) {
		if (!codes[i]->line_count)
			continue;
		start = MIN(start, codes[i]->place);
		end = MAX(end, codes[i]->place + codes[i]->size);
	}
	if (!end)
		return;
	if (!d->abbrev.length)
		add_abbrev(&d->abbrev);
	add_line_unit(&d->line, codes, n);
	add_info_unit(&d->info, line, start, end);
	add_aranges_unit(&d->aranges, info, start, end);
}

void jit_dwarf_done(struct jit_dwarf *d)
{
	strbuf_done(&d->info);
	strbuf_done(&d->abbrev);
	strbuf_done(&d->line);
	strbuf_done(&d->aranges);
}
