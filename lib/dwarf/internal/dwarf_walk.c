/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/internal/dwarf_walk.h"

struct dwarf_walk dwarf_walk_from(struct dwarf_unit *u, const struct dwarf_abbrevs *t,
				  uint64_t offset)
{
	return (struct dwarf_walk){ .unit = u, .abbrevs = t, .b = dwarf_unit_bytes(u, offset) };
}

uint64_t dwarf_walk_offset(const struct dwarf_walk *w)
{
	return (uint64_t)(w->b.in.at - w->unit->file->sections[DWARF_SECTION_INFO].at);
}

const struct dwarf_abbrev *dwarf_walk_next(struct dwarf_walk *w, uint64_t *ret_offset)
{
	const struct dwarf_abbrev *a;
	uint64_t code;

	while (w->b.in.left && (w->depth || !w->is_begun)) {
		w->is_begun = true;
		*ret_offset = dwarf_walk_offset(w);
		code = dwarf_uleb(&w->b);
		if (code) {
			a = dwarf_abbrevs_find(w->abbrevs, code);
			return w->b.bad ? NULL : a;
		}
		if (w->depth <= 1)
			return NULL;
		w->depth--;
	}
	return NULL;
}

bool dwarf_walk_past(struct dwarf_walk *w, const struct dwarf_abbrev *a, bool enter)
{
	uint64_t sibling = 0, here;

	dwarf_entry_skip(&w->b, w->unit, w->abbrevs, a, enter ? NULL : &sibling);
	if (!a->has_children)
		return false;
	here = dwarf_walk_offset(w);
	if (!enter && sibling > here && sibling <= w->unit->end) {
		dwarf_skip(&w->b, sibling - here);
		return false;
	}
	w->depth++;
	return true;
}

bool dwarf_walk_read(struct dwarf_walk *w, const struct dwarf_abbrev *a,
		     struct dwarf_value values[DWARF_FACT_COUNT_])
{
	(void)dwarf_entry_read(&w->b, w->unit, w->abbrevs, a, values);
	w->depth += a->has_children;
	return a->has_children;
}

void dwarf_walk_over(struct dwarf_walk *w, const struct dwarf_value values[DWARF_FACT_COUNT_])
{
	uint64_t here = dwarf_walk_offset(w);
	uint64_t sibling = w->unit->offset + values[DWARF_SIBLING].number;

	if (!values[DWARF_SIBLING].form || sibling <= here || sibling > w->unit->end)
		return;
	dwarf_skip(&w->b, sibling - here);
	w->depth--;
}
