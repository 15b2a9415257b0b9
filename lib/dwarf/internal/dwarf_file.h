/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The DWARF of one ELF file (version 2 to 5): its sections, its units, and the entries in them. All
 * offsets are offsets in .debug_info. Damaged data read as absent.
 *
 *	struct dwarf_file *f = dwarf_file_new(elf, path, DWARF_WHOLE, span_of(NULL, 0));
 *	for (i = 0; i < f->unit_count; i++)
 *		dwarf_unit_open(&f->units[i]);
 *	dwarf_file_free(f);				before the ELF file is closed
 */
#pragma once

#include "base/arena.h"
#include "base/macro.h"
#include "base/map.h"
#include "dwarf/internal/dwarf_abbrev.h"

#include <libelf.h>

#define DWARF_SECTIONS(X)                                                                          \
	X(INFO, "info")                                                                            \
	X(ABBREV, "abbrev")                                                                        \
	X(STR, "str")                                                                              \
	X(LINE, "line")                                                                            \
	X(LINE_STR, "line_str")                                                                    \
	X(RANGES, "ranges")                                                                        \
	X(RNGLISTS, "rnglists")                                                                    \
	X(ADDR, "addr")                                                                            \
	X(STR_OFFSETS, "str_offsets")                                                              \
	X(CU_INDEX, "cu_index")

enum dwarf_section {
#define X(name, text) DWARF_SECTION_##name,
	DWARF_SECTIONS(X) DWARF_SECTION_COUNT_
#undef X
};

/* Which sections to read: .debug_info etc., or .debug_info.dwo etc. */
enum dwarf_kind { DWARF_WHOLE, DWARF_SPLIT };

struct dwarf_file;

/* An attribute's value, not yet interpreted. */
struct dwarf_value {
	uint16_t form; /* 0: there is none */
	uint64_t number;
	const char *text;
};

struct dwarf_unit {
	struct dwarf_file *file;
	uint64_t offset, entries, end; /* of its header, its first entry and its end */
	uint64_t abbrevs;	       /* offset of its abbreviations */
	uint64_t id;		       /* common to a split unit and its skeleton; 0: neither */
	struct dwarf_shape shape;
	uint8_t type;		     /* DW_UT_ */
	bool is_open;		     /* by dwarf_unit_open(): the members below are set */
	bool is_code;		     /* it is a compilation unit, not a type unit */
	struct dwarf_unit *skeleton; /* of a split unit */
	struct dwarf_value root[DWARF_FACT_COUNT_];
	uint64_t low_pc, address_base, strings_base, lists_base, ranges_base;
};

struct dwarf_file {
	struct span sections[DWARF_SECTION_COUNT_];
	bool big;
	bool drops_zero;	  /* code at address 0 was dropped by the linker */
	struct dwarf_file *alt;	  /* the file that dwz moved shared data to, or NULL; borrowed */
	struct dwarf_unit *units; /* by offset */
	size_t unit_count, unit_room;
	struct map abbrevs; /* tables by offset and shape */
	size_t abbrev_bytes;
};

/* The DWARF of @elf, which is borrowed. Sections that are not compressed are read from @map, the
 * mapped file, as far as it has them. Warns of sections that cannot be unpacked, with @path. Caller
 * frees. */
struct dwarf_file *dwarf_file_new(Elf *elf, const char *path, enum dwarf_kind kind,
				  struct span map);
/* The same from the given sections, which are borrowed. */
struct dwarf_file *dwarf_file_of(const struct span sections[DWARF_SECTION_COUNT_], bool big);
/* NULL is fine. */
void dwarf_file_free(struct dwarf_file *f);
DEFINE_CLEANUP(struct dwarf_file *, dwarf_file_free);

/* The unit with the entry at @offset, opened; or NULL. */
struct dwarf_unit *dwarf_file_unit(struct dwarf_file *f, uint64_t offset);
/* Reads the unit's first entry, once. */
void dwarf_unit_open(struct dwarf_unit *u);

/* The unit's abbreviations, to be released by dwarf_unit_done(). */
struct dwarf_abbrevs *dwarf_unit_abbrevs(const struct dwarf_unit *u);
/* Releases abbreviations. */
void dwarf_unit_done(struct dwarf_abbrevs *t);

/* The unit's bytes from the entry at @offset on. */
struct dwarf_bytes dwarf_unit_bytes(const struct dwarf_unit *u, uint64_t offset);
/* Reads the value of one attribute; the bytes of blocks are skipped. */
void dwarf_value_read(struct dwarf_bytes *b, const struct dwarf_unit *u,
		      const struct dwarf_attribute *a, struct dwarf_value *ret);
/* Reads the attributes of the entry whose code was just read; false on failure. */
bool dwarf_entry_read(struct dwarf_bytes *b, const struct dwarf_unit *u,
		      const struct dwarf_abbrevs *t, const struct dwarf_abbrev *a,
		      struct dwarf_value ret[DWARF_FACT_COUNT_]);
/* Moves past the attributes. If @sibling is not NULL, *@sibling becomes the offset of the next
 * entry that is not a descendant, if the attributes give it. */
void dwarf_entry_skip(struct dwarf_bytes *b, const struct dwarf_unit *u,
		      const struct dwarf_abbrevs *t, const struct dwarf_abbrev *a,
		      uint64_t *sibling);

/* The address that a value is; false if it is none. */
bool dwarf_address(const struct dwarf_unit *u, const struct dwarf_value *v, uint64_t *ret);
/* The number that a value is; false if it is none. */
bool dwarf_number(const struct dwarf_value *v, uint64_t *ret);
/* The string that a value is, borrowed; NULL if it is none. */
const char *dwarf_text(const struct dwarf_unit *u, const struct dwarf_value *v);
/* The entry that a value refers to: its unit and its offset. */
bool dwarf_reference(const struct dwarf_unit *u, const struct dwarf_value *v,
		     struct dwarf_unit **ret, uint64_t *ret_offset);
/* The @index-th address of .debug_addr for the unit. */
bool dwarf_address_at(const struct dwarf_unit *u, uint64_t index, uint64_t *ret);
/* Whether @address is one that the linker gives to code that it dropped. */
bool dwarf_is_dropped(const struct dwarf_unit *u, uint64_t address);
