/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/internal/dwarf_abbrev.h"

#include "base/mem.h"

#include <dwarf.h>

static uint8_t fact_of(uint64_t attribute)
{
	static const uint16_t numbers[][2] = {
#define X(name, attribute, other) [DWARF_##name] = { attribute, other },
		DWARF_FACTS(X)
#undef X
	};
	uint8_t i;

	for (i = 0; attribute && i < ARRAY_SIZE(numbers); i++)
		if (numbers[i][0] == attribute || numbers[i][1] == attribute)
			return i;
	return DWARF_FACT_COUNT_;
}

uint8_t dwarf_form_size(uint64_t form, const struct dwarf_shape *shape)
{
	static const uint8_t sizes[] = {
		[DW_FORM_data1] = 1,  [DW_FORM_data2] = 2,    [DW_FORM_data4] = 4,
		[DW_FORM_data8] = 8,  [DW_FORM_data16] = 16,  [DW_FORM_flag] = 1,
		[DW_FORM_ref1] = 1,   [DW_FORM_ref2] = 2,     [DW_FORM_ref4] = 4,
		[DW_FORM_ref8] = 8,   [DW_FORM_ref_sig8] = 8, [DW_FORM_ref_sup4] = 4,
		[DW_FORM_strx1] = 1,  [DW_FORM_strx2] = 2,    [DW_FORM_strx3] = 3,
		[DW_FORM_strx4] = 4,  [DW_FORM_addrx1] = 1,   [DW_FORM_addrx2] = 2,
		[DW_FORM_addrx3] = 3, [DW_FORM_addrx4] = 4,   [DW_FORM_ref_sup8] = 8,
	};

	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_addr:
		return shape->address_size;
	case DW_FORM_ref_addr:
		return shape->version < 3 ? shape->address_size : shape->offset_size;
	case DW_FORM_sec_offset:
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_GNU_ref_alt:
		return shape->offset_size;
	default:
		return form < ARRAY_SIZE(sizes) && sizes[form] ? sizes[form] : DWARF_SIZE_VARIES;
	}
}

/* Adds the attributes of the last abbreviation; false if their end is missing. */
static bool read_attributes(struct dwarf_abbrevs *t, struct dwarf_bytes *b,
			    const struct dwarf_shape *shape)
{
	struct dwarf_abbrev *a = &t->abbrevs[t->count];

	for (;;) {
		uint64_t name = dwarf_uleb(b), form = dwarf_uleb(b);
		struct dwarf_attribute attribute = { .form = (uint16_t)form,
						     .fact = fact_of(name),
						     .size = dwarf_form_size(form, shape) };

		if (form == DW_FORM_implicit_const)
			attribute.implicit = dwarf_sleb(b);
		if (b->bad || form > UINT16_MAX)
			return false;
		if (!name && !form)
			return true;
		a->has_sibling |= attribute.fact == DWARF_SIBLING;
		if (attribute.size == DWARF_SIZE_VARIES)
			a->size = UINT32_MAX;
		else if (a->size != UINT32_MAX)
			a->size += attribute.size;
		array_grow(&t->attributes, t->attribute_count + 1, &t->attribute_room);
		t->attributes[t->attribute_count++] = attribute;
		a->count++;
	}
}

static int compare_codes(const void *pa, const void *pb)
{
	const struct dwarf_abbrev *a = pa, *b = pb;

	return (a->code > b->code) - (a->code < b->code);
}

struct dwarf_abbrevs *dwarf_abbrevs_read(struct dwarf_bytes *b, const struct dwarf_shape *shape)
{
	struct dwarf_abbrevs *t = xcalloc(1, sizeof(*t));
	uint64_t code;

	t->is_dense = true;
	while ((code = dwarf_uleb(b)) && !b->bad) {
		uint64_t tag = dwarf_uleb(b);
		bool has_children = dwarf_uint(b, 1);

		array_grow(&t->abbrevs, t->count + 1, &t->room);
		t->abbrevs[t->count] =
			(struct dwarf_abbrev){ .code = code,
					       .tag = (uint16_t)tag,
					       .has_children = has_children,
					       .first = (uint32_t)t->attribute_count };
		if (b->bad || tag > UINT16_MAX || !read_attributes(t, b, shape))
			break;
		t->is_dense &= code == ++t->count;
	}
	if (!t->is_dense)
		qsort(t->abbrevs, t->count, sizeof(*t->abbrevs), compare_codes);
	return t;
}

void dwarf_abbrevs_free(struct dwarf_abbrevs *t)
{
	if (!t)
		return;
	free(t->abbrevs);
	free(t->attributes);
	free(t);
}

const struct dwarf_abbrev *dwarf_abbrevs_find(const struct dwarf_abbrevs *t, uint64_t code)
{
	struct dwarf_abbrev key = { .code = code };

	if (t->is_dense)
		return code && code <= t->count ? &t->abbrevs[code - 1] : NULL;
	return bsearch(&key, t->abbrevs, t->count, sizeof(key), compare_codes);
}

size_t dwarf_abbrevs_bytes(const struct dwarf_abbrevs *t)
{
	return sizeof(*t) + t->room * sizeof(*t->abbrevs) +
	       t->attribute_room * sizeof(*t->attributes);
}
