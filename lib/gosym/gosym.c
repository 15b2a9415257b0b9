/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gosym/gosym.h"

#include "base/mem.h"
#include "elf/elffile.h"
#include "gosym/internal/go_module.h"
#include "gosym/internal/go_table.h"

/* Numbers of what the compiler records for each function, since Go 1.17. */
enum { PCDATA_INLINED = 2, FUNCDATA_INLINED = 3 };

/* Where the fields of an inlined call are (runtime.inlinedCall). */
struct call_layout {
	size_t size, name, parent;
};

struct gosym {
	struct go_table table;
	struct span data; /* of functions: runtime's go.func.*; may be empty */
	struct call_layout call;
};

/* Opens the table in the section @name; stores its linked address. */
static bool open_section(const struct elffile *ef, const char *name, struct go_table *t,
			 uint64_t *ret_address)
{
	struct elf_section s;
	const Elf_Data *data;

	if (!elffile_find_section(ef, name, &s) || s.header.sh_type == SHT_NOBITS ||
	    !(data = elffile_data(&s)) || !data->d_buf)
		return false;
	*ret_address = s.header.sh_addr;
	return go_table_open(t, span_of(data->d_buf, data->d_size)) && go_table_ascends(t);
}

/* The same where the C compiler's linker made a position-independent file: it has merged the
 * section with others. */
static bool search(const struct elffile *ef, struct go_table *t, uint64_t *ret_address)
{
	struct elf_section s;
	const Elf_Data *data;
	struct span in;

	if (!elffile_find_section(ef, ".go.buildinfo", &s) ||
	    !elffile_find_section(ef, ".data.rel.ro", &s) || s.header.sh_type == SHT_NOBITS ||
	    !(data = elffile_data(&s)) || !data->d_buf)
		return false;
	for (in = span_of(data->d_buf, data->d_size); span_take(&in, 8);) {
		const uint8_t *at = in.at - 8;

		if (!go_table_open(t, span_of(at, in.left + 8)) || !go_table_ascends(t))
			continue;
		*ret_address = s.header.sh_addr + (uint64_t)(at - (const uint8_t *)data->d_buf);
		return true;
	}
	return false;
}

static bool find_table(const struct elffile *ef, struct go_table *t, uint64_t *ret_address)
{
	return open_section(ef, ".gopclntab", t, ret_address) ||
	       open_section(ef, ".data.rel.ro.gopclntab", t, ret_address) ||
	       search(ef, t, ret_address);
}

struct gosym *gosym_new(const struct elffile *ef)
{
	struct gosym g = { .call = { 20, 12, 16 } };
	struct gosym *ret;
	uint64_t address;

	if (elffile_header(ef)->e_ident[EI_DATA] != ELFDATA2LSB ||
	    !find_table(ef, &g.table, &address))
		return NULL;
	if (g.table.version >= GO_1_18 && g.table.pointer == 8) {
		struct go_module m = go_module_find(ef, address);

		g.table.text = m.text ? m.text : g.table.text;
		g.data = m.data[g.table.version >= GO_1_20];
	}
	if (g.table.version >= GO_1_20)
		g.call = (struct call_layout){ 16, 4, 8 };
	ret = xcalloc(1, sizeof(*ret));
	*ret = g;
	return ret;
}

void gosym_free(struct gosym *g)
{
	free(g);
}

size_t gosym_count(const struct gosym *g)
{
	return g->table.count;
}

bool gosym_at(const struct gosym *g, size_t i, struct gosym_function *ret)
{
	size_t record = go_table_record(&g->table, i);
	uint32_t name;

	*ret = (struct gosym_function){ .start = go_table_address(&g->table, i),
					.end = go_table_address(&g->table, i + 1),
					.record = record };
	if (!go_table_field(&g->table, record, GO_NAME, &name))
		return false;
	ret->name = go_table_string(g->table.names, name);
	return ret->name && *ret->name;
}

size_t gosym_find(const struct gosym *g, uint64_t address)
{
	size_t n = FIRST_NOT(i, 0, g->table.count + 1, go_table_address(&g->table, i) <= address);

	return n && n <= g->table.count ? n - 1 : g->table.count;
}

/* Starts to list the ranges at @offset; there are none at 0. */
static struct gosym_range begin(const struct gosym *g, const struct gosym_function *fn,
				uint64_t offset)
{
	struct gosym_range r = { .end = fn->start, .value = -1, .limit = fn->end };

	r.rest = g->table.ranges;
	if (!offset || offset > r.rest.left || !span_take(&r.rest, (size_t)offset))
		r.rest.left = 0;
	return r;
}

/* The ranges whose offset is in @field. */
static struct gosym_range begin_field(const struct gosym *g, const struct gosym_function *fn,
				      enum go_field field)
{
	uint32_t offset = 0;

	(void)go_table_field(&g->table, fn->record, field, &offset);
	return begin(g, fn, offset);
}

struct gosym_range gosym_stack(const struct gosym *g, const struct gosym_function *fn)
{
	return begin_field(g, fn, GO_STACK);
}

/* A range is two numbers: the difference to the last value, as 2n or -2n - 1, and the length of the
 * code in units. The difference 0 ends the list, but for the first. */
bool gosym_next(const struct gosym *g, struct gosym_range *r)
{
	uint64_t change, length;
	bool is_first = !r->start;

	if (r->end >= r->limit || span_uleb(&r->rest, &change) < 0 || (!change && !is_first) ||
	    span_uleb(&r->rest, &length) < 0 || !length)
		return false;
	r->value = (int32_t)((uint32_t)r->value +
			     ((uint32_t)(change >> 1) ^ (uint32_t) - (uint32_t)(change & 1)));
	r->start = r->end;
	if (__builtin_mul_overflow(length, g->table.quantum, &length) ||
	    __builtin_add_overflow(r->end, length, &r->end) || r->end > r->limit)
		r->end = r->limit;
	return true;
}

/* Moves to the range that contains @address. */
static bool seek(const struct gosym *g, struct gosym_range *r, uint64_t address)
{
	while (gosym_next(g, r))
		if (address < r->end)
			return true;
	return false;
}

static bool line_of(const struct gosym *g, const struct gosym_function *fn, uint64_t address,
		    struct gosym_place *ret)
{
	struct gosym_range file = begin_field(g, fn, GO_FILES);
	struct gosym_range line = begin_field(g, fn, GO_LINES);

	if (!seek(g, &file, address) || !seek(g, &line, address) || file.value < 0 ||
	    line.value <= 0)
		return false;
	*ret = (struct gosym_place){ go_table_file(&g->table, fn->record, (uint32_t)file.value),
				     (unsigned int)line.value };
	return ret->file;
}

static bool function_of(const struct gosym *g, uint64_t address, struct gosym_function *ret)
{
	size_t i = gosym_find(g, address);

	return i < g->table.count && gosym_at(g, i, ret);
}

bool gosym_line(const struct gosym *g, uint64_t address, struct gosym_place *ret)
{
	struct gosym_function fn;

	return function_of(g, address, &fn) && line_of(g, &fn, address, ret);
}

/* The offset of a function's tree of inlined calls among the functions' data, and that of the
 * ranges of its nodes. */
static bool find_tree(const struct gosym *g, const struct gosym_function *fn, uint32_t *ret_tree,
		      uint32_t *ret_ranges)
{
	const struct go_table *t = &g->table;
	uint32_t pcdata, ranges, trees, at;

	if (t->version < GO_1_18 || !g->data.left ||
	    !go_table_field(t, fn->record, GO_PCDATA, &at) ||
	    !go_table_field(t, fn->record, GO_PCDATA_COUNT, &ranges) ||
	    !go_table_field(t, fn->record, GO_FUNCDATA_COUNT, &trees) || ranges <= PCDATA_INLINED ||
	    trees <= FUNCDATA_INLINED)
		return false;
	pcdata = at + PCDATA_INLINED * 4;
	if ((uint64_t)at + ((uint64_t)ranges + FUNCDATA_INLINED + 1) * 4 > t->functions.left)
		return false;
	*ret_ranges = get_le32(t->functions.at + pcdata);
	*ret_tree = get_le32(t->functions.at + at + (size_t)(ranges + FUNCDATA_INLINED) * 4);
	return *ret_tree != UINT32_MAX;
}

/* Reads node @i of a tree; stores the address of an instruction that has the call's line. */
static bool read_call(const struct gosym *g, const struct gosym_function *fn, uint64_t node,
		      struct gosym_call *ret, uint64_t *ret_parent)
{
	struct span in = g->data;
	const uint8_t *call;

	if (node > in.left || !span_take(&in, (size_t)node) ||
	    !(call = span_take(&in, g->call.size)))
		return false;
	ret->function = go_table_string(g->table.names, get_le32(call + g->call.name));
	*ret_parent = fn->start + get_le32(call + g->call.parent);
	if (!line_of(g, fn, *ret_parent, &ret->at))
		ret->at = (struct gosym_place){ 0 };
	return ret->function && *ret->function && *ret_parent < fn->end;
}

size_t gosym_inlines(const struct gosym *g, uint64_t address,
		     struct gosym_call ret[GOSYM_DEPTH_MAX])
{
	struct gosym_function fn;
	uint32_t tree, ranges;
	size_t n;

	if (!function_of(g, address, &fn) || !find_tree(g, &fn, &tree, &ranges))
		return 0;
	for (n = 0; n < GOSYM_DEPTH_MAX; n++) {
		struct gosym_range r = begin(g, &fn, ranges);

		if (!seek(g, &r, address) || r.value < 0 ||
		    !read_call(g, &fn, tree + (uint64_t)(uint32_t)r.value * g->call.size, &ret[n],
			       &address))
			break;
		ret[n].start = r.start;
	}
	return n;
}
