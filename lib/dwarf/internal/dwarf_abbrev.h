/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Abbreviations of DWARF, which describe the attributes that an entry of .debug_info has. Those
 * attributes that are of interest here have a number, enum dwarf_fact.
 *
 *	struct dwarf_abbrevs *t = dwarf_abbrevs_read(&bytes, &shape);
 *	const struct dwarf_abbrev *a = dwarf_abbrevs_find(t, code);
 *	dwarf_abbrevs_free(t);
 */
#pragma once

#include "dwarf/internal/dwarf_bytes.h"

/* The attributes of interest: our name, the attribute's number, an older number. */
#define DWARF_FACTS(X)                                                                             \
	X(SIBLING, DW_AT_sibling, 0)                                                               \
	X(NAME, DW_AT_name, 0)                                                                     \
	X(LINKAGE_NAME, DW_AT_linkage_name, 0x2007 /* MIPS */)                                     \
	X(LOW_PC, DW_AT_low_pc, 0)                                                                 \
	X(HIGH_PC, DW_AT_high_pc, 0)                                                               \
	X(RANGES, DW_AT_ranges, 0)                                                                 \
	X(ORIGIN, DW_AT_abstract_origin, 0)                                                        \
	X(SPECIFICATION, DW_AT_specification, 0)                                                   \
	X(CALL_FILE, DW_AT_call_file, 0)                                                           \
	X(CALL_LINE, DW_AT_call_line, 0)                                                           \
	X(LANGUAGE, DW_AT_language, 0)                                                             \
	X(LINES, DW_AT_stmt_list, 0)                                                               \
	X(DIRECTORY, DW_AT_comp_dir, 0)                                                            \
	X(SPLIT_NAME, DW_AT_dwo_name, 0x2130 /* GNU */)                                            \
	X(SPLIT_ID, 0, 0x2131 /* GNU */)                                                           \
	X(RANGES_BASE, 0, 0x2132 /* GNU */)                                                        \
	X(ADDRESS_BASE, DW_AT_addr_base, 0x2133 /* GNU */)                                         \
	X(STRINGS_BASE, DW_AT_str_offsets_base, 0)                                                 \
	X(LISTS_BASE, DW_AT_rnglists_base, 0)

enum dwarf_fact {
#define X(name, attribute, other) DWARF_##name,
	DWARF_FACTS(X) DWARF_FACT_COUNT_
#undef X
};

/* What the sizes of attributes depend on. */
struct dwarf_shape {
	uint8_t version, address_size, offset_size; /* sizes in bytes */
};

enum { DWARF_SIZE_VARIES = 255 };

struct dwarf_attribute {
	uint16_t form;
	uint8_t fact; /* enum dwarf_fact; DWARF_FACT_COUNT_: of no interest */
	uint8_t size; /* in bytes, or DWARF_SIZE_VARIES */
	int64_t implicit;
};

struct dwarf_abbrev {
	uint64_t code;
	uint16_t tag;
	bool has_children, has_sibling;
	uint32_t first, count; /* attributes */
	uint32_t size;	       /* of all attributes in bytes, or UINT32_MAX if that varies */
};

struct dwarf_abbrevs {
	struct dwarf_abbrev *abbrevs; /* by code */
	size_t count, room;
	bool is_dense; /* codes are 1, 2, 3, ... */
	struct dwarf_attribute *attributes;
	size_t attribute_count, attribute_room;
	unsigned int users; /* reference count of its keeper (dwarf_file.c) */
};

/* Reads the table that starts at @b, as far as it is valid; caller frees. */
struct dwarf_abbrevs *dwarf_abbrevs_read(struct dwarf_bytes *b, const struct dwarf_shape *shape);
/* NULL is fine. */
void dwarf_abbrevs_free(struct dwarf_abbrevs *t);
/* The abbreviation with this code, or NULL. */
const struct dwarf_abbrev *dwarf_abbrevs_find(const struct dwarf_abbrevs *t, uint64_t code);
/* Size in bytes of an attribute of this form, or DWARF_SIZE_VARIES. */
uint8_t dwarf_form_size(uint64_t form, const struct dwarf_shape *shape);
/* Memory in use, in bytes. */
size_t dwarf_abbrevs_bytes(const struct dwarf_abbrevs *t);
