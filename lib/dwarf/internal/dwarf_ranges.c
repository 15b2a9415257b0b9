/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/internal/dwarf_ranges.h"

#include <dwarf.h>

/* A list of ranges being read. */
struct list {
	const struct dwarf_unit *unit, *whole; /* its unit, and the unit with the addresses */
	struct dwarf_bytes b;
	uint64_t base;
	void (*add)(uint64_t start, uint64_t end, void *data);
	void *data;
	bool any;
};

static void add(struct list *l, uint64_t start, uint64_t end)
{
	if (l->b.bad || start >= end || dwarf_is_dropped(l->unit, start))
		return;
	l->any = true;
	l->add(start, end, l->data);
}

/* .debug_ranges, up to version 4: pairs of addresses. */
static void read_pairs(struct list *l)
{
	uint8_t size = l->whole->shape.address_size;
	uint64_t most = size == 4 ? UINT32_MAX : UINT64_MAX;

	while (!l->b.bad) {
		uint64_t start = dwarf_uint(&l->b, size), end = dwarf_uint(&l->b, size);

		if (!start && !end)
			return;
		if (start == most)
			l->base = end;
		else if (!dwarf_is_dropped(l->unit, l->base) || !l->base)
			add(l, l->base + start, l->base + end);
	}
}

static uint64_t address_at(struct list *l, uint64_t index)
{
	uint64_t address;

	if (dwarf_address_at(l->unit, index, &address))
		return address;
	dwarf_bytes_fail(&l->b);
	return 0;
}

/* .debug_rnglists, from version 5 on. False at the end. */
static bool read_item(struct list *l)
{
	uint8_t size = l->whole->shape.address_size;
	uint64_t kind = dwarf_uint(&l->b, 1), start, end;

	switch (kind) {
	case DW_RLE_base_addressx:
		l->base = address_at(l, dwarf_uleb(&l->b));
		return true;
	case DW_RLE_base_address:
		l->base = dwarf_uint(&l->b, size);
		return true;
	case DW_RLE_startx_endx:
		start = address_at(l, dwarf_uleb(&l->b));
		end = address_at(l, dwarf_uleb(&l->b));
		break;
	case DW_RLE_startx_length:
		start = address_at(l, dwarf_uleb(&l->b));
		end = start + dwarf_uleb(&l->b);
		break;
	case DW_RLE_offset_pair:
		start = l->base + dwarf_uleb(&l->b);
		end = l->base + dwarf_uleb(&l->b);
		if (l->base && dwarf_is_dropped(l->unit, l->base))
			return true;
		break;
	case DW_RLE_start_end:
		start = dwarf_uint(&l->b, size);
		end = dwarf_uint(&l->b, size);
		break;
	case DW_RLE_start_length:
		start = dwarf_uint(&l->b, size);
		end = start + dwarf_uleb(&l->b);
		break;
	default:
		return false;
	}
	add(l, start, end);
	return true;
}

/* The start of the list that @value refers to. */
static bool find_list(const struct dwarf_unit *u, const struct dwarf_value *value, uint64_t *ret)
{
	struct span section = u->file->sections[DWARF_SECTION_RNGLISTS];
	struct dwarf_bytes b;
	uint64_t offset;

	if (value->form != DW_FORM_rnglistx)
		return dwarf_number(value, ret);
	if (__builtin_mul_overflow(value->number, u->shape.offset_size, &offset) ||
	    __builtin_add_overflow(offset, u->lists_base, &offset))
		return false;
	b = dwarf_bytes_at(section, offset, u->file->big);
	*ret = u->lists_base + dwarf_uint(&b, u->shape.offset_size);
	return !b.bad;
}

static bool read_list(struct list *l, uint64_t offset)
{
	const struct dwarf_unit *u = l->unit;

	if (u->shape.version >= 5) {
		l->b = dwarf_bytes_at(u->file->sections[DWARF_SECTION_RNGLISTS], offset,
				      u->file->big);
		while (!l->b.bad && read_item(l))
			;
		return l->any;
	}
	/* A split unit's ranges stay in the file with the code. */
	if (u->skeleton)
		offset += l->whole->ranges_base;
	l->b = dwarf_bytes_at(l->whole->file->sections[DWARF_SECTION_RANGES], offset,
			      l->whole->file->big);
	read_pairs(l);
	return l->any;
}

bool dwarf_ranges_each(const struct dwarf_unit *u, const struct dwarf_value *values,
		       void (*add_range)(uint64_t start, uint64_t end, void *data), void *data)
{
	struct list l = {
		.unit = u, .whole = u->skeleton ? u->skeleton : u, .add = add_range, .data = data
	};
	uint64_t start, end, offset;

	l.base = l.whole->low_pc;
	if (values[DWARF_RANGES].form)
		return find_list(u, &values[DWARF_RANGES], &offset) && read_list(&l, offset);
	if (!dwarf_address(u, &values[DWARF_LOW_PC], &start))
		return false;
	if (dwarf_number(&values[DWARF_HIGH_PC], &end))
		end += start;
	else if (!dwarf_address(u, &values[DWARF_HIGH_PC], &end))
		return false;
	add(&l, start, end);
	return l.any;
}
