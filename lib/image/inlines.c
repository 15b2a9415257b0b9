/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/inlines.h"

#include "base/mem.h"

#include <dwarf.h>

/* Damaged information may nest without end. */
enum { DEPTH_MAX = 256 };

/* Code of a function. */
struct function {
	uint64_t start, end;
	Dwarf_Off die;
};

/* Code of an inlined call. */
struct piece {
	uint64_t start, end;
	unsigned int depth; /* of calls around it */
	Dwarf_Off die;
	struct lines_call call; /* read when it is asked for: ->function NULL until then */
};

struct inlines {
	Dwarf_Off unit; /* whose functions are known; 0: none */
	struct function *functions;
	size_t function_count, function_room;
	Dwarf_Off function; /* whose pieces are known; 0: none */
	struct piece *pieces;
	size_t piece_count, piece_room;
	struct lines_call *found;
	size_t found_room;
};

struct inlines *inlines_new(void)
{
	return xcalloc(1, sizeof(struct inlines));
}

void inlines_free(struct inlines *in)
{
	if (!in)
		return;
	free(in->functions);
	free(in->pieces);
	free(in->found);
	free(in);
}

/* --- the functions of a unit --- */

static void add_function(struct inlines *in, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start >= end)
			continue;
		array_grow(&in->functions, in->function_count + 1, &in->function_room);
		in->functions[in->function_count++] =
			(struct function){ start, end, dwarf_dieoffset(die) };
	}
}

/* Functions stand in the unit, in namespaces and in classes. */
static void walk_unit(struct inlines *in, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;
	int r = depth < DEPTH_MAX ? dwarf_child(parent, &die) : 1;

	for (; r == 0; r = dwarf_siblingof(&die, &die)) {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			add_function(in, &die);
			break;
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_module:
			walk_unit(in, &die, depth + 1);
			break;
		default:
			break;
		}
	}
}

static int compare_functions(const void *pa, const void *pb)
{
	const struct function *a = pa, *b = pb;

	return (a->start > b->start) - (a->start < b->start);
}

static void read_unit(struct inlines *in, Dwarf_Die *unit)
{
	if (in->unit == dwarf_dieoffset(unit))
		return;
	in->unit = dwarf_dieoffset(unit);
	in->function_count = 0;
	walk_unit(in, unit, 0);
	if (in->function_count)
		qsort(in->functions, in->function_count, sizeof(*in->functions), compare_functions);
}

static const struct function *function_at(const struct inlines *in, uint64_t address)
{
	size_t low = 0, high = in->function_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (in->functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < in->functions[low - 1].end ? &in->functions[low - 1] : NULL;
}

/* --- the calls in a function --- */

static const char *name_of(Dwarf_Die *die)
{
	static const unsigned int names[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name };
	const char *name = NULL;
	Dwarf_Attribute attribute;
	size_t i;

	for (i = 0; !name && i < ARRAY_SIZE(names); i++)
		if (dwarf_attr_integrate(die, names[i], &attribute))
			name = dwarf_formstring(&attribute);
	if (!name)
		name = dwarf_diename(die);
	return name ? name : "(unnamed)";
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) < 0)
		return 0;
	return value;
}

static struct lines_call call_of(Dwarf_Die *unit, Dwarf_Die *die, uint64_t start)
{
	struct lines_call call = { .function = name_of(die), .start = start };
	Dwarf_Word file = number_of(die, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;

	call.at.line = (unsigned int)number_of(die, DW_AT_call_line);
	if (dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
		call.at.file = dwarf_filesrc(files, file, NULL, NULL);
	return call;
}

static void add_call(struct inlines *in, Dwarf_Die *die, unsigned int depth)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start >= end)
			continue;
		array_grow(&in->pieces, in->piece_count + 1, &in->piece_room);
		in->pieces[in->piece_count++] = (struct piece){
			.start = start, .end = end, .depth = depth, .die = dwarf_dieoffset(die)
		};
	}
}

static void walk_function(struct inlines *in, Dwarf_Die *parent, unsigned int depth,
			  unsigned int nesting)
{
	Dwarf_Die die;
	int r = nesting < DEPTH_MAX ? dwarf_child(parent, &die) : 1;

	for (; r == 0; r = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_inlined_subroutine)
			add_call(in, &die, depth);
		if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block)
			walk_function(in, &die, depth + (tag == DW_TAG_inlined_subroutine),
				      nesting + 1);
	}
}

static int compare_pieces(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;

	return (a->start > b->start) - (a->start < b->start);
}

static void read_function(struct inlines *in, Dwarf_Die *unit, Dwarf_Off function)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
	Dwarf_Die die;

	if (in->function == function)
		return;
	in->function = function;
	in->piece_count = 0;
	if (dwarf_offdie(dwarf, function, &die))
		walk_function(in, &die, 0, 0);
	if (in->piece_count)
		qsort(in->pieces, in->piece_count, sizeof(*in->pieces), compare_pieces);
}

/* The call of a piece, where that makes sense. */
static const struct lines_call *read_call(struct piece *piece, Dwarf_Die *unit)
{
	Dwarf_Die die;

	if (!piece->call.function && dwarf_offdie(dwarf_cu_getdwarf(unit->cu), piece->die, &die))
		piece->call = call_of(unit, &die, piece->start);
	return piece->call.function ? &piece->call : NULL;
}

size_t inlines_find(struct inlines *in, Dwarf_Die *unit, uint64_t address,
		    const struct lines_call **ret)
{
	const struct function *function;
	size_t i, depth = 0;

	read_unit(in, unit);
	function = function_at(in, address);
	if (!function)
		return 0;
	read_function(in, unit, function->die);
	for (i = 0; i < in->piece_count && in->pieces[i].start <= address; i++)
		if (address < in->pieces[i].end)
			depth = MAX(depth, (size_t)in->pieces[i].depth + 1);
	array_grow(&in->found, depth, &in->found_room);
	for (i = 0; i < depth; i++)
		in->found[i] = (struct lines_call){ .function = "(unnamed)" };
	for (i = 0; i < in->piece_count && in->pieces[i].start <= address; i++) {
		const struct lines_call *call =
			address < in->pieces[i].end ? read_call(&in->pieces[i], unit) : NULL;

		if (call)
			in->found[depth - 1 - in->pieces[i].depth] = *call;
	}
	*ret = in->found;
	return depth;
}
