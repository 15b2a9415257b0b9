/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The debug information that there is for a binary, with what belongs to it in other files, and
 * which compilation unit an address belongs to: what look-ups of lines (dwarf/lines.h) and of
 * inlined calls share.
 *
 *	struct dwarffile *d = dwarffile_new(ef, debug);
 *	if ((unit = dwarffile_unit(d, &address)))
 *		entries = dwarffile_entries(d, unit);
 *	dwarffile_free(d);				before the files are closed
 */
#pragma once

#include "dwarf/internal/dwarf_file.h"
#include "elf/elffile.h"

struct dwarffile;

/* That of @debug (may be NULL), else of @ef; both borrowed. Of a relocatable file (a kernel module)
 * it is relocated as elffile_section_base() lays it out. NULL where there is none. */
struct dwarffile *dwarffile_new(const struct elffile *ef, const struct elffile *debug);
/* NULL is fine. */
void dwarffile_free(struct dwarffile *d);
DEFINE_CLEANUP(struct dwarffile *, dwarffile_free);

/* The unit whose code @address is of, open; NULL if there is none. *address becomes what the debug
 * information calls it: another one in a relocatable file. Fast where one asks in the order of
 * addresses. */
struct dwarf_unit *dwarffile_unit(struct dwarffile *d, uint64_t *address);
/* Where the unit's entries are: in itself, or, of split DWARF, in another file, NULL if that is not
 * there. */
struct dwarf_unit *dwarffile_entries(struct dwarffile *d, struct dwarf_unit *u);
/* Says that @size bytes were read for one unit and will hardly be read again. From time to time
 * the memory that the file's pages take is given back. */
void dwarffile_read(struct dwarffile *d, uint64_t size);
