/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The address ranges of the code that a DWARF entry describes. Ranges that the linker dropped are
 * left out.
 *
 *	static void add(uint64_t start, uint64_t end, void *data);
 *	dwarf_ranges_each(unit, values, add, data);
 */
#pragma once

#include "dwarf/internal/dwarf_file.h"

/* Calls @add for each range of the entry in @u whose attributes are @values. False if it has none:
 * it has no code, or is damaged. */
bool dwarf_ranges_each(const struct dwarf_unit *u, const struct dwarf_value *values,
		       void (*add)(uint64_t start, uint64_t end, void *data), void *data);
