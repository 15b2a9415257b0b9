/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/lines.h"

#include "base/mem.h"
#include "image/dwarffile.h"
#include "image/inlines.h"

struct lines {
	struct dwarffile *dwarf; /* NULL: no debug information */
	struct inlines *inlines; /* made at the first question */
};

struct lines *lines_new(const struct elffile *ef, const struct elffile *debug)
{
	struct lines *l = xcalloc(1, sizeof(*l));

	l->dwarf = dwarffile_new(ef, debug);
	return l;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	inlines_free(l->inlines);
	dwarffile_free(l->dwarf);
	free(l);
}

bool lines_exist(const struct lines *l)
{
	return l->dwarf;
}

bool lines_find(struct lines *l, uint64_t address, struct lines_place *ret)
{
	Dwarf_Line *line;
	Dwarf_Die unit;
	const char *file;
	int number;

	if (!l->dwarf || !dwarffile_unit(l->dwarf, &address, &unit))
		return false;
	line = dwarf_getsrc_die(&unit, address);
	if (!line || dwarf_lineno(line, &number) < 0 || number <= 0)
		return false;
	file = dwarf_linesrc(line, NULL, NULL);
	if (!file)
		return false;
	*ret = (struct lines_place){ file, (unsigned int)number };
	return true;
}

size_t lines_inlines(struct lines *l, uint64_t address, const struct lines_call **ret)
{
	Dwarf_Die unit;

	if (!l->dwarf || !dwarffile_unit(l->dwarf, &address, &unit))
		return 0;
	if (!l->inlines)
		l->inlines = inlines_new();
	return inlines_find(l->inlines, &unit, address, ret);
}
