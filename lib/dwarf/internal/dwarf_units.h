/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The debug information that there is for a binary, with what belongs to it in other files, and
 * which compilation unit an address belongs to: what look-ups of lines (dwarf/lines.h) and of
 * inlined calls share.
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

/* That of @debug (may be NULL), else of @ef; both borrowed. Of a relocatable file (a kernel module)
 * it is relocated as elffile_section_base() lays it out. NULL where there is none. */
struct dwarf_units *dwarf_units_new(const struct elffile *ef, const struct elffile *debug);
/* NULL is fine. */
void dwarf_units_free(struct dwarf_units *d);
DEFINE_CLEANUP(struct dwarf_units *, dwarf_units_free);

/* The unit whose code @address is of, open; NULL if there is none. *address becomes what the debug
 * information calls it: another one in a relocatable file. Fast where one asks in the order of
 * addresses. */
struct dwarf_unit *dwarf_units_unit(struct dwarf_units *d, uint64_t *address);
/* Where the unit's entries are: in itself, or, of split DWARF, in another file, NULL if that is not
 * there. */
struct dwarf_unit *dwarf_units_entries(struct dwarf_units *d, struct dwarf_unit *u);
/* Says that @size bytes were read for one unit and will hardly be read again. From time to time
 * the memory that the file's pages take is given back. */
void dwarf_units_read(struct dwarf_units *d, uint64_t size);
