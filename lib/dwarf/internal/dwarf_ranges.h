/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the code of an entry of DWARF lies: from its start to its end, or in several ranges. Ranges
 * that the linker threw away are left out.
 *
 *	static void add(uint64_t start, uint64_t end, void *data);
 *	dwarf_ranges_each(unit, values, add, data);
 */
#pragma once

#include "dwarf/internal/dwarf_file.h"

/* Calls @add for each range of the entry in @u whose attributes are @values. False where it has
 * none: no code, or damaged. */
bool dwarf_ranges_each(const struct dwarf_unit *u, const struct dwarf_value *values,
		       void (*add)(uint64_t start, uint64_t end, void *data), void *data);
