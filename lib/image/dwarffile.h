/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The debug information of a file, and which compilation unit an address belongs to: what lookups
 * of lines (image/lines.h) and of inlined calls share.
 *
 *	struct dwarffile *d = dwarffile_new(ef, debug);
 *	if (dwarffile_unit(d, &address, &unit))
 *		line = dwarf_getsrc_die(&unit, address);
 *	dwarffile_free(d);				before the files are closed
 */
#pragma once

#include "image/elffile.h"

#include <elfutils/libdw.h>

struct dwarffile;

/* That of @debug (may be NULL), else of @ef; both borrowed. Of a relocatable file (a kernel module)
 * it is relocated as elffile_section_base() lays it out. NULL where there is none. */
struct dwarffile *dwarffile_new(const struct elffile *ef, const struct elffile *debug);
/* NULL is fine. */
void dwarffile_free(struct dwarffile *d);
DEFINE_CLEANUP(struct dwarffile *, dwarffile_free);

/* The unit whose code @address is of; false if there is none. *address becomes what the debug
 * information calls it: another one in a relocatable file. Fast where one asks in the order of
 * addresses. */
bool dwarffile_unit(struct dwarffile *d, uint64_t *address, Dwarf_Die *ret);
