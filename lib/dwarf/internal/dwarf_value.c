/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/internal/dwarf_file.h"

#include <dwarf.h>
#include <string.h>

/* --- the bytes of attributes --- */

/* Reads a value whose form precedes it. */
static void read_indirect(struct dwarf_bytes *b, const struct dwarf_unit *u,
			  struct dwarf_value *ret)
{
	struct dwarf_attribute real = { .form = (uint16_t)dwarf_uleb(b) };

	if (real.form == DW_FORM_indirect || real.form == DW_FORM_implicit_const) {
		dwarf_bytes_fail(b);
		return;
	}
	real.size = dwarf_form_size(real.form, &u->shape);
	dwarf_value_read(b, u, &real, ret);
}

void dwarf_value_read(struct dwarf_bytes *b, const struct dwarf_unit *u,
		      const struct dwarf_attribute *a, struct dwarf_value *ret)
{
	*ret = (struct dwarf_value){ .form = a->form };
	switch (a->form) {
	case DW_FORM_implicit_const:
		ret->number = (uint64_t)a->implicit;
		return;
	case DW_FORM_flag_present:
		ret->number = 1;
		return;
	case DW_FORM_string:
		ret->text = dwarf_string(b);
		return;
	case DW_FORM_sdata:
		ret->number = (uint64_t)dwarf_sleb(b);
		return;
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		ret->number = dwarf_uleb(b);
		return;
	case DW_FORM_data16:
		dwarf_skip(b, 16);
		return;
	case DW_FORM_block1:
		dwarf_skip(b, dwarf_uint(b, 1));
		return;
	case DW_FORM_block2:
		dwarf_skip(b, dwarf_uint(b, 2));
		return;
	case DW_FORM_block4:
		dwarf_skip(b, dwarf_uint(b, 4));
		return;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		dwarf_skip(b, dwarf_uleb(b));
		return;
	case DW_FORM_indirect:
		read_indirect(b, u, ret);
		return;
	default:
		if (a->size == DWARF_SIZE_VARIES)
			dwarf_bytes_fail(b);
		else
			ret->number = dwarf_uint(b, a->size);
	}
}

/* The first attribute; meaningless if there are none. */
static const struct dwarf_attribute *attributes_of(const struct dwarf_abbrevs *t,
						   const struct dwarf_abbrev *a)
{
	static const struct dwarf_attribute none;

	return a->count ? t->attributes + a->first : &none;
}

bool dwarf_entry_read(struct dwarf_bytes *b, const struct dwarf_unit *u,
		      const struct dwarf_abbrevs *t, const struct dwarf_abbrev *a,
		      struct dwarf_value ret[DWARF_FACT_COUNT_])
{
	const struct dwarf_attribute *attribute = attributes_of(t, a);
	const struct dwarf_attribute *end = attribute + a->count;
	struct dwarf_value value;

	memset(ret, 0, DWARF_FACT_COUNT_ * sizeof(*ret));
	for (; attribute < end; attribute++) {
		if (attribute->fact == DWARF_FACT_COUNT_ && attribute->size != DWARF_SIZE_VARIES) {
			dwarf_skip(b, attribute->size);
			continue;
		}
		dwarf_value_read(b, u, attribute, &value);
		if (attribute->fact != DWARF_FACT_COUNT_)
			ret[attribute->fact] = value;
	}
	return !b->bad;
}

void dwarf_entry_skip(struct dwarf_bytes *b, const struct dwarf_unit *u,
		      const struct dwarf_abbrevs *t, const struct dwarf_abbrev *a,
		      uint64_t *sibling)
{
	const struct dwarf_attribute *attribute = attributes_of(t, a);
	const struct dwarf_attribute *end = attribute + a->count;
	struct dwarf_value value;

	if (a->size != UINT32_MAX && !(sibling && a->has_sibling)) {
		dwarf_skip(b, a->size);
		return;
	}
	for (; attribute < end; attribute++) {
		if (attribute->size != DWARF_SIZE_VARIES && attribute->fact != DWARF_SIBLING) {
			dwarf_skip(b, attribute->size);
			continue;
		}
		dwarf_value_read(b, u, attribute, &value);
		if (attribute->fact == DWARF_SIBLING && sibling)
			*sibling = u->offset + value.number;
	}
}

/* --- what values are --- */

static const struct dwarf_unit *skeleton_of(const struct dwarf_unit *u)
{
	return u->skeleton ? u->skeleton : u;
}

bool dwarf_address_at(const struct dwarf_unit *u, uint64_t index, uint64_t *ret)
{
	const struct dwarf_unit *s = skeleton_of(u);
	struct span section = s->file->sections[DWARF_SECTION_ADDR];
	struct dwarf_bytes b;
	uint64_t offset;

	if (__builtin_mul_overflow(index, s->shape.address_size, &offset) ||
	    __builtin_add_overflow(offset, s->address_base, &offset))
		return false;
	b = dwarf_bytes_at(section, offset, s->file->big);
	*ret = dwarf_uint(&b, s->shape.address_size);
	return !b.bad;
}

bool dwarf_address(const struct dwarf_unit *u, const struct dwarf_value *v, uint64_t *ret)
{
	switch (v->form) {
	case DW_FORM_addr:
		*ret = v->number;
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return dwarf_address_at(u, v->number, ret);
	default:
		return false;
	}
}

bool dwarf_number(const struct dwarf_value *v, uint64_t *ret)
{
	switch (v->form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
	case DW_FORM_sec_offset:
		*ret = v->number;
		return true;
	default:
		return false;
	}
}

static const char *text_at(const struct dwarf_file *f, enum dwarf_section section, uint64_t offset)
{
	struct dwarf_bytes b = dwarf_bytes_at(f->sections[section], offset, f->big);

	return b.bad ? NULL : dwarf_string(&b);
}

/* The @index-th string of the unit. */
static const char *indexed_text(const struct dwarf_unit *u, uint64_t index)
{
	const struct dwarf_file *f = u->file;
	struct dwarf_bytes b;
	uint64_t offset;

	if (__builtin_mul_overflow(index, u->shape.offset_size, &offset) ||
	    __builtin_add_overflow(offset, u->strings_base, &offset))
		return NULL;
	b = dwarf_bytes_at(f->sections[DWARF_SECTION_STR_OFFSETS], offset, f->big);
	offset = dwarf_uint(&b, u->shape.offset_size);
	return b.bad ? NULL : text_at(f, DWARF_SECTION_STR, offset);
}

const char *dwarf_text(const struct dwarf_unit *u, const struct dwarf_value *v)
{
	switch (v->form) {
	case DW_FORM_string:
		return v->text;
	case DW_FORM_strp:
		return text_at(u->file, DWARF_SECTION_STR, v->number);
	case DW_FORM_line_strp:
		return text_at(u->file, DWARF_SECTION_LINE_STR, v->number);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return u->file->alt ? text_at(u->file->alt, DWARF_SECTION_STR, v->number) : NULL;
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		return indexed_text(u, v->number);
	default:
		return NULL;
	}
}

bool dwarf_reference(const struct dwarf_unit *u, const struct dwarf_value *v,
		     struct dwarf_unit **ret, uint64_t *ret_offset)
{
	struct dwarf_file *file = u->file;
	struct dwarf_unit *found;
	uint64_t offset = v->number;

	switch (v->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		offset += u->offset;
		break;
	case DW_FORM_ref_addr:
		break;
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_GNU_ref_alt:
		file = file->alt;
		break;
	default:
		return false;
	}
	found = file ? dwarf_file_unit(file, offset) : NULL;
	if (!found)
		return false;
	*ret = found;
	*ret_offset = offset;
	return true;
}

bool dwarf_is_dropped(const struct dwarf_unit *u, uint64_t address)
{
	const struct dwarf_unit *s = skeleton_of(u);
	uint64_t most = s->shape.address_size == 4 ? UINT32_MAX : UINT64_MAX;

	return address >= most - 1 || (!address && s->file->drops_zero);
}
