/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/internal/dwarf_lines.h"

#include "base/mem.h"
#include "base/radix.h"

#include <dwarf.h>
#include <string.h>

enum { OPCODES_MAX = 256, FORMATS_MAX = 16 };

struct file_name {
	const char *name;
	uint64_t directory;
};

struct dwarf_lines {
	const struct dwarf_unit *unit;
	bool from_zero; /* numbers of files and directories start at 0, not at 1 */
	struct dwarf_line_row *rows;
	size_t count, room, last;
	const char **directories;
	size_t directory_count, directory_room;
	struct file_name *files;
	size_t file_count, file_room;
};

/* A table being read. */
struct reading {
	struct dwarf_lines *lines;
	struct dwarf_bytes b;
	struct dwarf_shape shape;
	uint8_t least, range, base_opcode, lengths[OPCODES_MAX];
	int8_t base_line;
	/* the state machine: */
	uint64_t address;
	uint32_t file, line;
	size_t sequence; /* first row of the current one */
	bool is_sorted;
};

/* --- files --- */

static void add_file(struct dwarf_lines *l, const char *name, uint64_t directory)
{
	array_grow(&l->files, l->file_count + 1, &l->file_room);
	l->files[l->file_count++] = (struct file_name){ name, directory };
}

static void add_directory(struct dwarf_lines *l, const char *name)
{
	array_grow(&l->directories, l->directory_count + 1, &l->directory_room);
	l->directories[l->directory_count++] = name;
}

/* A file as up to version 4, in the header or defined by an operation; false at the end of the
 * list. */
static bool read_old_file(struct reading *r)
{
	const char *name = dwarf_string(&r->b);
	uint64_t directory;

	if (!name || !*name)
		return false;
	directory = dwarf_uleb(&r->b);
	(void)dwarf_uleb(&r->b);
	(void)dwarf_uleb(&r->b);
	add_file(r->lines, name, directory);
	return true;
}

static void read_old_names(struct reading *r)
{
	const char *name;

	while ((name = dwarf_string(&r->b)) && *name)
		add_directory(r->lines, name);
	while (read_old_file(r))
		;
}

/* A table of names from version 5 on; a format says what each consists of. */
static void read_names(struct reading *r, bool is_files)
{
	struct dwarf_attribute forms[FORMATS_MAX];
	uint64_t kinds[FORMATS_MAX], count;
	size_t formats = dwarf_uint(&r->b, 1), i;
	/* Indexes of strings are relative to the unit's table. */
	struct dwarf_unit unit = *r->lines->unit;

	unit.shape = r->shape;
	for (i = 0; i < formats; i++) {
		if (i == FORMATS_MAX) {
			dwarf_bytes_fail(&r->b);
			return;
		}
		kinds[i] = dwarf_uleb(&r->b);
		forms[i] = (struct dwarf_attribute){ .form = (uint16_t)dwarf_uleb(&r->b) };
		forms[i].size = dwarf_form_size(forms[i].form, &r->shape);
	}
	for (count = dwarf_uleb(&r->b); count && formats && !r->b.bad; count--) {
		const char *name = NULL;
		uint64_t directory = 0;
		size_t left = r->b.in.left;

		for (i = 0; i < formats; i++) {
			struct dwarf_value value;

			dwarf_value_read(&r->b, &unit, &forms[i], &value);
			if (kinds[i] == DW_LNCT_path)
				name = dwarf_text(&unit, &value);
			else if (kinds[i] == DW_LNCT_directory_index)
				(void)dwarf_number(&value, &directory);
		}
		if (r->b.in.left == left)
			dwarf_bytes_fail(&r->b); /* an entry of no bytes: the count means nothing */
		if (is_files)
			add_file(r->lines, name, directory);
		else
			add_directory(r->lines, name);
	}
}

/* --- rows --- */

static void add_row(struct reading *r, uint32_t file, uint32_t line)
{
	struct dwarf_lines *l = r->lines;

	array_grow(&l->rows, l->count + 1, &l->room);
	r->is_sorted &= !l->count || l->rows[l->count - 1].address <= r->address;
	l->rows[l->count++] = (struct dwarf_line_row){ r->address, file, line };
}

static void start_sequence(struct reading *r)
{
	r->address = 0;
	r->file = r->line = 1;
	r->sequence = r->lines->count;
}

static void end_sequence(struct reading *r)
{
	struct dwarf_lines *l = r->lines;

	if (l->count > r->sequence && dwarf_is_dropped(l->unit, l->rows[r->sequence].address))
		l->count = r->sequence; /* of code that the linker dropped */
	else
		add_row(r, UINT32_MAX, 0);
	start_sequence(r);
}

static void run_extended(struct reading *r)
{
	uint64_t length = dwarf_uleb(&r->b);
	size_t before = r->b.in.left, used;
	uint64_t opcode = length ? dwarf_uint(&r->b, 1) : 0;

	if (length > before) {
		dwarf_bytes_fail(&r->b);
		return;
	}
	if (opcode == DW_LNE_end_sequence)
		end_sequence(r);
	else if (opcode == DW_LNE_set_address && length > 1)
		r->address = dwarf_uint(&r->b, (size_t)length - 1);
	else if (opcode == DW_LNE_define_file)
		(void)read_old_file(r);
	used = before - r->b.in.left;
	if (used < length)
		dwarf_skip(&r->b, length - used);
}

static void run_standard(struct reading *r, uint8_t opcode)
{
	uint8_t i;

	switch (opcode) {
	case DW_LNS_copy:
		add_row(r, r->file, r->line);
		break;
	case DW_LNS_advance_pc:
		r->address += dwarf_uleb(&r->b) * r->least;
		break;
	case DW_LNS_advance_line:
		r->line += (uint32_t)dwarf_sleb(&r->b);
		break;
	case DW_LNS_set_file:
		r->file = (uint32_t)MIN(dwarf_uleb(&r->b), (uint64_t)UINT32_MAX - 1);
		break;
	case DW_LNS_const_add_pc:
		r->address += (uint64_t)((255 - r->base_opcode) / r->range) * r->least;
		break;
	case DW_LNS_fixed_advance_pc:
		r->address += dwarf_uint(&r->b, 2);
		break;
	default:
		for (i = 0; i < r->lengths[opcode]; i++)
			(void)dwarf_uleb(&r->b);
	}
}

static void run_program(struct reading *r)
{
	start_sequence(r);
	r->is_sorted = true;
	while (r->b.in.left) {
		uint8_t opcode = (uint8_t)dwarf_uint(&r->b, 1);

		if (opcode >= r->base_opcode) {
			uint8_t special = (uint8_t)(opcode - r->base_opcode);

			r->address += (uint64_t)(special / r->range) * r->least;
			r->line += (uint32_t)(r->base_line + special % r->range);
			add_row(r, r->file, r->line);
		} else if (opcode == 0) {
			run_extended(r);
		} else {
			run_standard(r, opcode);
		}
	}
	/* A sequence without an end was cut short: damaged. */
	r->lines->count = r->sequence;
}

/* At one address the end of a sequence comes before the start of the next. */
static void put_ends_first(struct dwarf_lines *l)
{
	struct dwarf_line_row *rows = l->rows;
	size_t i, end, k, to;

	for (i = 0; i < l->count; i = end) {
		for (end = i + 1; end < l->count && rows[end].address == rows[i].address;)
			end++;
		for (k = to = end; k-- > i;)
			if (rows[k].file != UINT32_MAX)
				rows[--to] = rows[k];
		while (to-- > i)
			rows[to] = (struct dwarf_line_row){ rows[end - 1].address, UINT32_MAX, 0 };
	}
}

static void sort_rows(struct dwarf_lines *l)
{
	_cleanup_free_ struct radix_entry *entries = xcalloc(l->count + 1, sizeof(*entries));
	_cleanup_free_ struct radix_entry *spare = xcalloc(l->count + 1, sizeof(*spare));
	struct dwarf_line_row *rows = xcalloc(l->count + 1, sizeof(*rows));
	size_t i;

	for (i = 0; i < l->count; i++)
		entries[i] = (struct radix_entry){ l->rows[i].address, i };
	radix_sort(entries, spare, l->count);
	for (i = 0; i < l->count; i++)
		rows[i] = l->rows[entries[i].value];
	free(l->rows);
	l->rows = rows;
	l->room = l->count + 1;
	put_ends_first(l);
}

/* --- the table --- */

static bool read_header(struct reading *r)
{
	uint64_t length, version;
	size_t i;

	length = dwarf_length(&r->b, &r->shape.offset_size);
	if (length > r->b.in.left)
		return false;
	r->b.in.left = (size_t)length;
	version = dwarf_uint(&r->b, 2);
	if (r->b.bad || version < 2 || version > 5)
		return false;
	r->shape.version = (uint8_t)version;
	if (version >= 5) {
		r->shape.address_size = (uint8_t)dwarf_uint(&r->b, 1);
		dwarf_skip(&r->b, 1);
	}
	length = dwarf_uint(&r->b, r->shape.offset_size);
	if (length > r->b.in.left)
		return false;
	r->least = (uint8_t)dwarf_uint(&r->b, 1);
	if (version >= 4)
		dwarf_skip(&r->b, 1);
	dwarf_skip(&r->b, 1);
	r->base_line = (int8_t)dwarf_uint(&r->b, 1);
	r->range = (uint8_t)dwarf_uint(&r->b, 1);
	r->base_opcode = (uint8_t)dwarf_uint(&r->b, 1);
	for (i = 1; i < r->base_opcode; i++)
		r->lengths[i] = (uint8_t)dwarf_uint(&r->b, 1);
	return !r->b.bad && r->range && r->base_opcode;
}

/* The first byte of the program, which the header gives. */
static struct dwarf_bytes program_of(struct dwarf_bytes table)
{
	uint8_t offset_size;
	uint64_t length = dwarf_length(&table, &offset_size), version;

	table.in.left = MIN(table.in.left, (size_t)length);
	version = dwarf_uint(&table, 2);
	dwarf_skip(&table, version >= 5 ? 2 : 0);
	length = dwarf_uint(&table, offset_size);
	dwarf_skip(&table, length);
	return table;
}

struct dwarf_lines *dwarf_lines_read(const struct dwarf_unit *u)
{
	struct reading r = { .shape = u->shape };
	struct dwarf_bytes table;
	uint64_t offset;

	if (!dwarf_number(&u->root[DWARF_LINES], &offset))
		return NULL;
	table = dwarf_bytes_at(u->file->sections[DWARF_SECTION_LINE], offset, u->file->big);
	r.b = table;
	if (r.b.bad || !read_header(&r))
		return NULL;
	r.lines = xcalloc(1, sizeof(*r.lines));
	r.lines->unit = u;
	r.lines->from_zero = r.shape.version >= 5;
	if (r.lines->from_zero) {
		read_names(&r, false);
		read_names(&r, true);
	} else {
		read_old_names(&r);
	}
	r.b = program_of(table);
	if (!r.b.bad)
		run_program(&r);
	if (!r.is_sorted)
		sort_rows(r.lines);
	else
		put_ends_first(r.lines);
	return r.lines;
}

void dwarf_lines_free(struct dwarf_lines *l)
{
	if (!l)
		return;
	free(l->rows);
	free(l->directories);
	free(l->files);
	free(l);
}

const struct dwarf_line_row *dwarf_lines_find(struct dwarf_lines *l, uint64_t address)
{
	size_t i = l->last;

	if (i < l->count && l->rows[i].address <= address &&
	    (i + 1 == l->count || address < l->rows[i + 1].address))
		return l->rows[i].file == UINT32_MAX ? NULL : &l->rows[i];
	i = FIRST_NOT(k, 0, l->count, l->rows[k].address <= address);
	if (!i)
		return NULL;
	l->last = --i;
	return l->rows[i].file == UINT32_MAX ? NULL : &l->rows[i];
}

/* A directory by its number; NULL: the directory of compilation. */
static const char *directory_of(const struct dwarf_lines *l, uint64_t number)
{
	if (!l->from_zero && number-- == 0)
		return NULL;
	return number < l->directory_count ? l->directories[number] : NULL;
}

char *dwarf_lines_path(const struct dwarf_lines *l, uint64_t file)
{
	const char *directory, *name;
	const char *compiled = dwarf_text(l->unit, &l->unit->root[DWARF_DIRECTORY]);

	if (!l->from_zero && file-- == 0)
		return NULL;
	if (file >= l->file_count || !l->files[file].name)
		return NULL;
	name = l->files[file].name;
	directory = directory_of(l, l->files[file].directory) ?: compiled;
	if (*name == '/' || !directory)
		return xstrdup(name);
	if (*directory == '/' || !compiled)
		return xasprintf("%s/%s", directory, name);
	return xasprintf("%s/%s/%s", compiled, directory, name);
}

size_t dwarf_lines_bytes(const struct dwarf_lines *l)
{
	return sizeof(*l) + l->room * sizeof(*l->rows) +
	       l->directory_room * sizeof(*l->directories) + l->file_room * sizeof(*l->files);
}
