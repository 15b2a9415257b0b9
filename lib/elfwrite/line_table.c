/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elfwrite/line_table.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <dwarf.h>
#include <string.h>

/* Entries of .debug_abbrev, by their codes. */
enum { ABBREV_UNIT = 1, ABBREV_FUNCTION, ABBREV_CALL, ABBREV_NAME };

/* DWARF 4, 6.2.4: the standard opcodes, and how many operands each has. */
enum { LINE_OPCODES = 13 };
static const uint8_t operand_counts[LINE_OPCODES - 1] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };

/* A reference in .debug_info to the name of an inlined function, filled in at the end. */
struct fixup {
	size_t at;
	size_t name;
};

struct line_table {
	unsigned int address_size;
	bool big;
	uint64_t low, high; /* bounds of all code with lines or calls; 0 and 0: none yet */
	uint64_t covered, covered_end; /* the last of it */
	struct map files, names;       /* hash of a text to its number, which counts from 1 */
	struct strbuf file_table, name_table;
	size_t file_count, name_count;
	size_t *name_at; /* where each name is in .debug_info, once written */
	struct strbuf program, ranges, info, abbrev, line, aranges;
	struct fixup *fixups;
	size_t fixup_count, fixup_room;
	unsigned int depth; /* open functions and calls */
	/* The open sequence, and the registers of its line program. */
	bool in_sequence;
	uint64_t start, address;
	uint64_t file;
	int64_t number;
};

static void put_number(const struct line_table *t, struct strbuf *to, uint64_t value, size_t size)
{
	uint8_t bytes[8];
	size_t i;

	for (i = 0; i < size; i++)
		bytes[t->big ? size - 1 - i : i] = (uint8_t)(value >> (8 * i));
	strbuf_add(to, bytes, size);
}

static void put_byte(struct strbuf *to, unsigned int value)
{
	uint8_t byte = (uint8_t)value;

	strbuf_add(to, &byte, 1);
}

static void put_signed(struct strbuf *to, int64_t value)
{
	bool more = true;

	while (more) {
		unsigned int byte = value & 0x7f;

		value >>= 7;
		more = !((value == 0 && !(byte & 0x40)) || (value == -1 && byte & 0x40));
		put_byte(to, byte | (more ? 0x80 : 0));
	}
}

static void put_text(struct strbuf *to, const char *text)
{
	strbuf_add(to, text, strlen(text) + 1);
}

static void put_address(const struct line_table *t, struct strbuf *to, uint64_t address)
{
	put_number(t, to, address, t->address_size);
}

/* Overwrites the four bytes at @at. */
static void patch(const struct line_table *t, struct strbuf *in, size_t at, uint64_t value)
{
	struct strbuf bytes = STRBUF_INIT;

	put_number(t, &bytes, value, 4);
	memcpy(in->text + at, bytes.text, 4);
	strbuf_done(&bytes);
}

struct line_table *line_table_new(bool is_64, bool big_endian)
{
	struct line_table *t = xcalloc(1, sizeof(*t));

	t->address_size = is_64 ? 8 : 4;
	t->big = big_endian;
	return t;
}

void line_table_free(struct line_table *t)
{
	struct strbuf *all[] = { &t->file_table, &t->name_table, &t->program, &t->ranges,
				 &t->info,	 &t->abbrev,	 &t->line,    &t->aranges };
	size_t i;

	if (!t)
		return;
	for (i = 0; i < ARRAY_SIZE(all); i++)
		strbuf_done(all[i]);
	map_done(&t->files);
	map_done(&t->names);
	free(t->name_at);
	free(t->fixups);
	free(t);
}

/* The number of @text; it is new if @count grew. Two texts with the same 64-bit hash would be taken
 * for one, which is as unlikely as damage that no checksum detects. */
static size_t number_of(struct map *known, const char *text, size_t *count)
{
	uint64_t hash = hash_bytes(text, strlen(text));
	size_t number = (uintptr_t)map_get(known, hash);

	if (!number) {
		number = ++*count;
		(void)map_set(known, hash, (void *)(uintptr_t)number);
	}
	return number;
}

static size_t file_number(struct line_table *t, const char *file)
{
	size_t before = t->file_count, number = number_of(&t->files, file, &t->file_count);

	if (t->file_count > before) {
		put_text(&t->file_table, *file ? file : "?"); /* an empty name ends the table */
		strbuf_add_uleb(&t->file_table, 0);	      /* directory, time, size: unknown */
		strbuf_add_uleb(&t->file_table, 0);
		strbuf_add_uleb(&t->file_table, 0);
	}
	return number;
}

static void put_extended(struct line_table *t, unsigned int op, size_t operands)
{
	put_byte(&t->program, 0);
	strbuf_add_uleb(&t->program, 1 + operands);
	put_byte(&t->program, op);
}

static void set_address(struct line_table *t, uint64_t address)
{
	put_extended(t, DW_LNE_set_address, t->address_size);
	put_address(t, &t->program, address);
	t->address = address;
}

static void start_sequence(struct line_table *t, uint64_t address)
{
	t->in_sequence = true;
	t->start = address;
	t->file = 1;
	t->number = 1;
	set_address(t, address);
}

/* Run-time compilers may report lines in any order. The standard wants rising addresses, but our
 * reader and elfutils sort the rows of a sequence. */
static void advance(struct line_table *t, uint64_t address)
{
	if (address < t->address) {
		t->start = MIN(t->start, address);
		set_address(t, address);
		return;
	}
	put_byte(&t->program, DW_LNS_advance_pc);
	strbuf_add_uleb(&t->program, address - t->address);
	t->address = address;
}

/* The unit has code from @start up to @end. */
static void cover(struct line_table *t, uint64_t start, uint64_t end)
{
	if (start == end || (start >= t->covered && end <= t->covered_end))
		return;
	t->covered = start;
	t->covered_end = end;
	put_address(t, &t->ranges, start);
	put_address(t, &t->ranges, end - start);
	t->low = t->high ? MIN(t->low, start) : start;
	t->high = MAX(t->high, end);
}

void line_table_end(struct line_table *t, uint64_t address)
{
	if (!t->in_sequence)
		return;
	t->in_sequence = false;
	advance(t, MAX(address, t->address));
	put_extended(t, DW_LNE_end_sequence, 0);
	cover(t, t->start, t->address);
}

void line_table_add(struct line_table *t, uint64_t address, const char *file, unsigned int line)
{
	uint64_t number;

	if (!file) {
		line_table_end(t, address);
		return;
	}
	number = file_number(t, file);
	if (!t->in_sequence)
		start_sequence(t, address);
	else if (t->file == number && t->number == (int64_t)line && address >= t->address)
		return;
	else
		advance(t, address);
	if (t->file != number) {
		put_byte(&t->program, DW_LNS_set_file);
		strbuf_add_uleb(&t->program, number);
		t->file = number;
	}
	put_byte(&t->program, DW_LNS_advance_line);
	put_signed(&t->program, (int64_t)line - t->number);
	put_byte(&t->program, DW_LNS_copy);
	t->number = (int64_t)line;
}

bool line_table_any(const struct line_table *t)
{
	return t->ranges.length > 0;
}

/* --- functions and the calls inlined into them --- */

static void close_all(struct line_table *t)
{
	for (; t->depth; t->depth--)
		put_byte(&t->info, 0);
}

void line_table_function(struct line_table *t, const char *name, uint64_t start, uint64_t end)
{
	close_all(t);
	cover(t, start, end);
	strbuf_add_uleb(&t->info, ABBREV_FUNCTION);
	put_text(&t->info, name);
	put_address(t, &t->info, start);
	put_address(t, &t->info, end);
	t->depth = 1;
}

void line_table_enter(struct line_table *t, const char *name, const char *file, unsigned int line,
		      uint64_t start, uint64_t end)
{
	size_t before = t->name_count, number = number_of(&t->names, name, &t->name_count);

	if (t->name_count > before)
		put_text(&t->name_table, name);
	strbuf_add_uleb(&t->info, ABBREV_CALL);
	array_grow(&t->fixups, t->fixup_count + 1, &t->fixup_room);
	t->fixups[t->fixup_count++] = (struct fixup){ t->info.length, number - 1 };
	put_number(t, &t->info, 0, 4);
	put_address(t, &t->info, start);
	put_address(t, &t->info, end);
	strbuf_add_uleb(&t->info, file ? file_number(t, file) : 0);
	strbuf_add_uleb(&t->info, line);
	t->depth++;
}

void line_table_leave(struct line_table *t)
{
	assert(t->depth > 1);
	put_byte(&t->info, 0);
	t->depth--;
}

/* --- the sections --- */

static void write_abbrev(struct line_table *t)
{
	static const struct {
		unsigned int code, tag, has_children;
		unsigned int attributes[6][2];
	} entries[] = {
		{ ABBREV_UNIT,
		  DW_TAG_compile_unit,
		  DW_CHILDREN_yes,
		  { { DW_AT_producer, DW_FORM_string },
		    { DW_AT_stmt_list, DW_FORM_sec_offset },
		    { DW_AT_low_pc, DW_FORM_addr },
		    { DW_AT_high_pc, DW_FORM_addr } } },
		{ ABBREV_FUNCTION,
		  DW_TAG_subprogram,
		  DW_CHILDREN_yes,
		  { { DW_AT_linkage_name, DW_FORM_string },
		    { DW_AT_low_pc, DW_FORM_addr },
		    { DW_AT_high_pc, DW_FORM_addr } } },
		{ ABBREV_CALL,
		  DW_TAG_inlined_subroutine,
		  DW_CHILDREN_yes,
		  { { DW_AT_abstract_origin, DW_FORM_ref4 },
		    { DW_AT_low_pc, DW_FORM_addr },
		    { DW_AT_high_pc, DW_FORM_addr },
		    { DW_AT_call_file, DW_FORM_udata },
		    { DW_AT_call_line, DW_FORM_udata } } },
		{ ABBREV_NAME,
		  DW_TAG_subprogram,
		  DW_CHILDREN_no,
		  { { DW_AT_linkage_name, DW_FORM_string }, { DW_AT_inline, DW_FORM_data1 } } },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		strbuf_add_uleb(&t->abbrev, entries[i].code);
		strbuf_add_uleb(&t->abbrev, entries[i].tag);
		put_byte(&t->abbrev, entries[i].has_children);
		for (j = 0; j < 6; j++) { /* ends with a pair of zeros */
			strbuf_add_uleb(&t->abbrev, entries[i].attributes[j][0]);
			strbuf_add_uleb(&t->abbrev, entries[i].attributes[j][1]);
			if (!entries[i].attributes[j][0])
				break;
		}
	}
	put_byte(&t->abbrev, 0);
}

static void write_line(struct line_table *t)
{
	struct strbuf header = STRBUF_INIT;

	put_byte(&header, 1); /* shortest instruction */
	put_byte(&header, 1); /* operations per instruction */
	put_byte(&header, 1); /* rows start statements */
	put_byte(&header, 0); /* line base and range of special opcodes, which are not used */
	put_byte(&header, 1);
	put_byte(&header, LINE_OPCODES);
	strbuf_add(&header, operand_counts, sizeof(operand_counts));
	put_byte(&header, 0); /* no directories */
	strbuf_add(&header, strbuf_text(&t->file_table), t->file_table.length);
	put_byte(&header, 0);
	put_number(t, &t->line, 2 + 4 + header.length + t->program.length, 4);
	put_number(t, &t->line, 4, 2);
	put_number(t, &t->line, header.length, 4);
	strbuf_add(&t->line, header.text, header.length);
	strbuf_add(&t->line, strbuf_text(&t->program), t->program.length);
	strbuf_done(&header);
}

/* The start of .debug_info: the unit and its entry. */
static void write_unit(struct line_table *t, struct strbuf *out)
{
	put_number(t, out, 0, 4); /* length, filled in at the end */
	put_number(t, out, 4, 2);
	put_number(t, out, 0, 4);
	put_byte(out, t->address_size);
	strbuf_add_uleb(out, ABBREV_UNIT);
	put_text(out, "OProfile");
	put_number(t, out, 0, 4);
	put_address(t, out, t->low);
	put_address(t, out, t->high);
}

static void write_info(struct line_table *t)
{
	struct strbuf out = STRBUF_INIT;
	const char *name = strbuf_text(&t->name_table);
	size_t i, base;

	close_all(t);
	write_unit(t, &out);
	base = out.length;
	strbuf_add(&out, strbuf_text(&t->info), t->info.length);
	t->name_at = xcalloc(t->name_count + 1, sizeof(*t->name_at));
	for (i = 0; i < t->name_count; i++, name += strlen(name) + 1) {
		t->name_at[i] = out.length;
		strbuf_add_uleb(&out, ABBREV_NAME);
		put_text(&out, name);
		put_byte(&out, DW_INL_inlined);
	}
	put_byte(&out, 0);
	for (i = 0; i < t->fixup_count; i++)
		patch(t, &out, base + t->fixups[i].at, t->name_at[t->fixups[i].name]);
	patch(t, &out, 0, out.length - 4);
	strbuf_done(&t->info);
	t->info = out;
}

/* DWARF 4, 6.1.2: the addresses of the unit. */
static void write_aranges(struct line_table *t)
{
	size_t end = 2 * (size_t)t->address_size; /* a tuple of zeros */

	put_number(t, &t->aranges, 12 + t->ranges.length + end, 4);
	put_number(t, &t->aranges, 2, 2);
	put_number(t, &t->aranges, 0, 4); /* the unit in .debug_info */
	put_byte(&t->aranges, t->address_size);
	put_byte(&t->aranges, 0);	  /* no segments */
	put_number(t, &t->aranges, 0, 4); /* tuples start at a multiple of their size */
	strbuf_add(&t->aranges, strbuf_text(&t->ranges), t->ranges.length);
	strbuf_fill(&t->aranges, 0, end);
}

void line_table_finish(struct line_table *t, struct line_table_section ret[LINE_TABLE_SECTIONS])
{
	line_table_end(t, t->address);
	write_abbrev(t);
	write_line(t);
	write_info(t);
	write_aranges(t);
	ret[0] = (struct line_table_section){ ".debug_info", t->info.text, t->info.length };
	ret[1] = (struct line_table_section){ ".debug_abbrev", t->abbrev.text, t->abbrev.length };
	ret[2] = (struct line_table_section){ ".debug_line", t->line.text, t->line.length };
	ret[3] =
		(struct line_table_section){ ".debug_aranges", t->aranges.text, t->aranges.length };
}
