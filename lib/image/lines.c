/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/lines.h"

#include "base/mem.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

/* Code of one compilation unit. */
struct range {
	uint64_t start, end;
	Dwarf_Off unit; /* of its DIE */
};

struct lines {
	Dwarf *dwarf;	      /* NULL: no debug information */
	struct range current; /* what the last answer came from */
	Dwarf_Die unit;	      /* its DIE; valid if the range is not empty */
	struct range *ranges; /* of all units, by start; read when .debug_aranges falls short */
	size_t count, room;
	bool scanned;
};

static Dwarf *open_dwarf(const struct elffile *ef)
{
	struct elf_section s;

	if (!ef || elffile_header(ef)->e_type == ET_REL ||
	    (!elffile_find_section(ef, ".debug_line", &s) &&
	     !elffile_find_section(ef, ".zdebug_line", &s)))
		return NULL;
	return dwarf_begin_elf(elffile_elf(ef), DWARF_C_READ, NULL);
}

struct lines *lines_new(const struct elffile *ef, const struct elffile *debug)
{
	struct lines *l = xcalloc(1, sizeof(*l));

	l->dwarf = open_dwarf(debug);
	if (!l->dwarf)
		l->dwarf = open_dwarf(ef);
	return l;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	(void)dwarf_end(l->dwarf);
	free(l->ranges);
	free(l);
}

bool lines_exist(const struct lines *l)
{
	return l->dwarf;
}

static void add_ranges(struct lines *l, Dwarf_Die *unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
		if (start >= end)
			continue;
		array_grow(&l->ranges, l->count + 1, &l->room);
		l->ranges[l->count++] = (struct range){ start, end, dwarf_dieoffset(unit) };
	}
}

static int compare_ranges(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	return (a->start > b->start) - (a->start < b->start);
}

/* clang writes no .debug_aranges: collects what each unit itself says of where its code is. */
static void scan_units(struct lines *l)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	l->scanned = true;
	while (dwarf_get_units(l->dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0)
		if (dwarf_tag(&unit) == DW_TAG_compile_unit ||
		    dwarf_tag(&unit) == DW_TAG_skeleton_unit)
			add_ranges(l, &unit);
	if (l->count)
		qsort(l->ranges, l->count, sizeof(*l->ranges), compare_ranges);
}

static bool find_scanned(struct lines *l, uint64_t address, struct range *ret)
{
	size_t low = 0, high;

	if (!l->scanned)
		scan_units(l);
	high = l->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || l->ranges[low - 1].end <= address)
		return false;
	*ret = l->ranges[low - 1];
	return true;
}

static bool find_range(struct lines *l, uint64_t address, struct range *ret)
{
	Dwarf_Aranges *aranges = NULL;
	Dwarf_Arange *arange;
	Dwarf_Word length;
	size_t count;

	if (dwarf_getaranges(l->dwarf, &aranges, &count) == 0 && aranges &&
	    (arange = dwarf_getarange_addr(aranges, address)) &&
	    dwarf_getarangeinfo(arange, &ret->start, &length, &ret->unit) == 0) {
		ret->end = ret->start + length;
		return true;
	}
	return find_scanned(l, address, ret);
}

/* Makes the unit that @address lies in the current one. */
static bool seek_unit(struct lines *l, uint64_t address)
{
	struct range range;

	if (address >= l->current.start && address < l->current.end)
		return true;
	l->current = (struct range){ 0 };
	if (!find_range(l, address, &range) || !dwarf_offdie(l->dwarf, range.unit, &l->unit))
		return false;
	l->current = range;
	return true;
}

bool lines_find(struct lines *l, uint64_t address, struct lines_place *ret)
{
	Dwarf_Line *line;
	const char *file;
	int number;

	if (!l->dwarf || !seek_unit(l, address))
		return false;
	line = dwarf_getsrc_die(&l->unit, address);
	if (!line || dwarf_lineno(line, &number) < 0 || number <= 0)
		return false;
	file = dwarf_linesrc(line, NULL, NULL);
	if (!file)
		return false;
	*ret = (struct lines_place){ file, (unsigned int)number };
	return true;
}
