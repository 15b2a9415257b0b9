/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A walk over the entries of a unit, each before its children.
 *
 *	struct dwarf_walk w = dwarf_walk_from(unit, abbrevs, offset);
 *	while ((a = dwarf_walk_next(&w, &offset)))
 *		dwarf_walk_past(&w, a, false);		its children, too, if it says where they end
 */
#pragma once

#include "dwarf/internal/dwarf_file.h"

struct dwarf_walk {
	struct dwarf_unit *unit;
	const struct dwarf_abbrevs *abbrevs;
	struct dwarf_bytes b;
	size_t depth; /* of the next entry, relative to where the walk began */
	bool is_begun;
};

/* Begins with the entry at @offset. All is borrowed. */
struct dwarf_walk dwarf_walk_from(struct dwarf_unit *u, const struct dwarf_abbrevs *t,
				  uint64_t offset);
/* Where the walk is. */
uint64_t dwarf_walk_offset(const struct dwarf_walk *w);
/* The next entry, whose attributes are not read yet, with its offset; NULL at the end of the
 * walk. */
const struct dwarf_abbrev *dwarf_walk_next(struct dwarf_walk *w, uint64_t *ret_offset);
/* Moves past the attributes of the entry and, unless @enter, past its children if it says where
 * they end. True if its children come next. */
bool dwarf_walk_past(struct dwarf_walk *w, const struct dwarf_abbrev *a, bool enter);
/* Reads the attributes of the entry; true if its children come next. */
bool dwarf_walk_read(struct dwarf_walk *w, const struct dwarf_abbrev *a,
		     struct dwarf_value values[DWARF_FACT_COUNT_]);
/* Moves past the children of an entry that was read, if it says where they end. */
void dwarf_walk_over(struct dwarf_walk *w, const struct dwarf_value values[DWARF_FACT_COUNT_]);
