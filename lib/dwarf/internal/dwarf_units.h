/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The debug information of a binary, including its parts in other files, and the look-up of the
 * compilation unit of an address. Used by the look-ups of lines (dwarf/lines.h) and of inlined
 * calls.
 *
 *	struct dwarf_units *d = dwarf_units_new(ef, debug);
 *	if ((unit = dwarf_units_unit(d, &address)))
 *		entries = dwarf_units_entries(d, unit);
 *	dwarf_units_free(d);				before the files are closed
 */
#pragma once

#include "dwarf/internal/dwarf_file.h"
#include "elf/elffile.h"

struct dwarf_units;

/* The debug information in @debug (may be NULL), else in @ef; both are borrowed. In a relocatable
 * file (a kernel module) it is relocated to the layout of elffile_section_base(). NULL if there is
 * none. */
struct dwarf_units *dwarf_units_new(const struct elffile *ef, const struct elffile *debug);
/* NULL is fine. */
void dwarf_units_free(struct dwarf_units *d);
DEFINE_CLEANUP(struct dwarf_units *, dwarf_units_free);

/* The unit of the code at *@address, opened; NULL if there is none. In a relocatable file *@address
 * becomes the address that the debug information uses. Fast for ascending addresses. */
struct dwarf_unit *dwarf_units_unit(struct dwarf_units *d, uint64_t *address);
/* The unit that has the entries of @u: @u itself or, for split DWARF, a unit of another file; NULL
 * if that file is missing. */
struct dwarf_unit *dwarf_units_entries(struct dwarf_units *d, struct dwarf_unit *u);
/* Says that @size bytes were read for a unit and are unlikely to be read again: now and then the
 * mapped pages of the file are released. */
void dwarf_units_read(struct dwarf_units *d, uint64_t size);
