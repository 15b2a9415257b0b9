/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/dwarffile.h"

#include "base/mem.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <string.h>

/* Code of one compilation unit. */
struct range {
	uint64_t start, end;
	Dwarf_Off unit; /* of its DIE */
};

/* Where a section of a relocatable file is, for us and in its relocated debug information. */
struct moved {
	uint64_t start, end, there;
};

struct dwarffile {
	Dwarf *dwarf;
	Dwfl *dwfl; /* holds ->dwarf if the file is relocatable; else NULL */
	struct moved *moved;
	size_t moved_count;
	struct range current; /* what the last answer came from */
	Dwarf_Die unit;	      /* its DIE; valid if the range is not empty */
	struct range *ranges; /* of all units, by start; read when .debug_aranges falls short */
	size_t count, room;
	bool scanned;
};

static bool has_lines(const struct elffile *ef)
{
	struct elf_section s;

	return elffile_find_section(ef, ".debug_line", &s) ||
	       elffile_find_section(ef, ".zdebug_line", &s);
}

/* --- relocatable files --- */

static int find_no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			     const char *file, const char *link, GElf_Word crc, char **ret)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc;
	*ret = NULL;
	return -1;
}

static const Dwfl_Callbacks callbacks = { .find_debuginfo = find_no_debuginfo,
					  .section_address = dwfl_offline_section_address };

/* libdwfl lays all sections out in its own way; we, as the kernel does, those with code. */
static void note_sections(struct dwarffile *d, const struct elffile *ef, Elf *laid_out)
{
	size_t i, n = elffile_section_count(ef);

	d->moved = xcalloc(n + 1, sizeof(*d->moved));
	for (i = 0; i < n; i++) {
		uint64_t base = elffile_section_base(ef, i);
		Elf_Scn *scn = elf_getscn(laid_out, i);
		struct elf_section s;
		GElf_Shdr there;

		if (!elffile_section(ef, i, &s) || !elffile_section_is_code(ef, &s) || !scn ||
		    !gelf_getshdr(scn, &there))
			continue;
		d->moved[d->moved_count++] =
			(struct moved){ base, base + s.header.sh_size, there.sh_addr };
	}
}

static bool open_relocatable(struct dwarffile *d, const struct elffile *ef)
{
	Dwfl_Module *module;
	GElf_Addr bias;
	Elf *elf;

	d->dwfl = dwfl_begin(&callbacks);
	if (!d->dwfl)
		return false;
	module = dwfl_report_elf(d->dwfl, "module", elffile_path(ef), -1, 0, false);
	(void)dwfl_report_end(d->dwfl, NULL, NULL);
	elf = module ? dwfl_module_getelf(module, &bias) : NULL;
	d->dwarf = elf ? dwfl_module_getdwarf(module, &bias) : NULL;
	if (d->dwarf)
		note_sections(d, ef, elf);
	return d->dwarf;
}

/* The address in the debug information of a relocatable file; false if no code is there. */
static bool move(const struct dwarffile *d, uint64_t *address)
{
	size_t i;

	if (!d->dwfl)
		return true;
	for (i = 0; i < d->moved_count; i++) {
		if (*address < d->moved[i].start || *address >= d->moved[i].end)
			continue;
		*address += d->moved[i].there - d->moved[i].start;
		return true;
	}
	return false;
}

/* A file that oparchive cut down has its lines where its code is. */
static bool is_relocated(const struct elffile *ef)
{
	struct elf_section s;

	return elffile_header(ef)->e_type != ET_REL ||
	       elffile_find_section(ef, ELFFILE_ORIGINAL, &s);
}

static bool open_file(struct dwarffile *d, const struct elffile *ef)
{
	if (!ef || !has_lines(ef))
		return false;
	if (!is_relocated(ef))
		return open_relocatable(d, ef);
	d->dwarf = dwarf_begin_elf(elffile_elf(ef), DWARF_C_READ, NULL);
	return d->dwarf;
}

struct dwarffile *dwarffile_new(const struct elffile *ef, const struct elffile *debug)
{
	_cleanup_(dwarffile_freep) struct dwarffile *d = xcalloc(1, sizeof(*d));

	return open_file(d, debug) || open_file(d, ef) ? STEAL(d) : NULL;
}

void dwarffile_free(struct dwarffile *d)
{
	if (!d)
		return;
	if (d->dwfl)
		dwfl_end(d->dwfl);
	else
		(void)dwarf_end(d->dwarf);
	free(d->moved);
	free(d->ranges);
	free(d);
}

/* --- units --- */

static void add_ranges(struct dwarffile *d, Dwarf_Die *unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
		if (start >= end)
			continue;
		array_grow(&d->ranges, d->count + 1, &d->room);
		d->ranges[d->count++] = (struct range){ start, end, dwarf_dieoffset(unit) };
	}
}

static int compare_ranges(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	return (a->start > b->start) - (a->start < b->start);
}

/* clang writes no .debug_aranges: collects what each unit itself says of where its code is. */
static void scan_units(struct dwarffile *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	d->scanned = true;
	while (dwarf_get_units(d->dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0)
		if (dwarf_tag(&unit) == DW_TAG_compile_unit ||
		    dwarf_tag(&unit) == DW_TAG_skeleton_unit)
			add_ranges(d, &unit);
	if (d->count)
		qsort(d->ranges, d->count, sizeof(*d->ranges), compare_ranges);
}

static bool find_scanned(struct dwarffile *d, uint64_t address, struct range *ret)
{
	size_t low = 0, high;

	if (!d->scanned)
		scan_units(d);
	high = d->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (d->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || d->ranges[low - 1].end <= address)
		return false;
	*ret = d->ranges[low - 1];
	return true;
}

static bool find_range(struct dwarffile *d, uint64_t address, struct range *ret)
{
	Dwarf_Aranges *aranges = NULL;
	Dwarf_Arange *arange;
	Dwarf_Word length;
	size_t count;

	if (dwarf_getaranges(d->dwarf, &aranges, &count) == 0 && aranges &&
	    (arange = dwarf_getarange_addr(aranges, address)) &&
	    dwarf_getarangeinfo(arange, &ret->start, &length, &ret->unit) == 0) {
		ret->end = ret->start + length;
		return true;
	}
	return find_scanned(d, address, ret);
}

/* Makes the unit that @address lies in the current one. */
static bool seek_unit(struct dwarffile *d, uint64_t address)
{
	struct range range;

	if (address >= d->current.start && address < d->current.end)
		return true;
	d->current = (struct range){ 0 };
	if (!find_range(d, address, &range) || !dwarf_offdie(d->dwarf, range.unit, &d->unit))
		return false;
	d->current = range;
	return true;
}

bool dwarffile_unit(struct dwarffile *d, uint64_t *address, Dwarf_Die *ret)
{
	uint64_t there = *address;

	if (!move(d, &there) || !seek_unit(d, there))
		return false;
	*address = there;
	*ret = d->unit;
	return true;
}
