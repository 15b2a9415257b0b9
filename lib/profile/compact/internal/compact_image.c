/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/compact/internal/compact_image.h"

#include "base/mem.h"
#include "disasm/disasm.h"
#include "dwarf/lines.h"
#include "elfwrite/elf_subset.h"
#include "elfwrite/line_table.h"
#include "symbol/symtab.h"
#include "profile/binary/binary.h"
#include "profile/select/used_offsets.h"

#include <string.h>

/* The parts of a symbol to keep. */
enum { KEEP_NAME = 1, KEEP_CODE = 2 };

/* A growing list of addresses. */
struct places {
	uint64_t *list;
	size_t count, room;
};

/* An image being cut down. */
struct cutting {
	const struct binary *b;
	const struct used_offsets *used;
	bool is_kernel;
	uint8_t *keep; /* of each symbol that is a whole one */
	struct elf_subset_run *runs;
	size_t run_count, run_room;
	struct places asked; /* addresses whose lines will be looked up */
	struct elf_subset_symbol *symbols;
	size_t symbol_count, symbol_room;
	const char *strings, *strings_end; /* of the file's own .symtab */
};

static void add_place(struct places *p, uint64_t address)
{
	array_grow(&p->list, p->count + 1, &p->room);
	p->list[p->count++] = address;
}

static bool address_of(const struct cutting *c, uint64_t offset, uint64_t *ret)
{
	const struct symbol *first;

	if (!c->is_kernel)
		return elffile_address(c->b->file, offset, ret);
	if (!c->b->symtab)
		return false;
	first = symtab_at(c->b->symtab, 0);
	*ret = offset - first->offset + first->address;
	return true;
}

static void keep_at(struct cutting *c, uint64_t offset, uint8_t what)
{
	const struct symbol *sym = symtab_find(c->b->symtab, offset);

	if (sym)
		c->keep[sym->whole] |= what;
}

/* Keeps symbols inside a kept one: they cut it into pieces, and without them it would cover more
 * code. */
static void keep_inner(struct cutting *c)
{
	const struct symtab *st = c->b->symtab;
	size_t i, n = symtab_count(st);
	_cleanup_free_ uint64_t *ends = xcalloc(n + 1, sizeof(*ends)); /* of whole symbols */
	uint64_t reach = 0;

	for (i = 0; i < n; i++)
		ends[symtab_at(st, i)->whole] = symtab_at(st, i)->end;
	for (i = 0; i < n; i++) {
		const struct symbol *sym = symtab_at(st, i);

		if (sym->whole != i)
			continue;
		if (c->keep[i])
			reach = MAX(reach, ends[i]);
		else if (sym->offset < reach)
			c->keep[i] |= KEEP_NAME;
	}
}

static int compare_runs(const void *pa, const void *pb)
{
	const struct elf_subset_run *a = pa, *b = pb;

	return (a->start > b->start) - (a->start < b->start);
}

/* Collects the pieces of all symbols whose code is kept, by address, joined if adjacent. */
static void collect_runs(struct cutting *c)
{
	const struct symtab *st = c->b->symtab;
	size_t i, n = symtab_count(st), kept = 0;

	for (i = 0; i < n; i++) {
		const struct symbol *piece = symtab_at(st, i);

		if (!(c->keep[piece->whole] & KEEP_CODE))
			continue;
		array_grow(&c->runs, c->run_count + 1, &c->run_room);
		c->runs[c->run_count++] =
			(struct elf_subset_run){ piece->address,
						 piece->address + (piece->end - piece->offset) };
	}
	if (c->run_count)
		qsort(c->runs, c->run_count, sizeof(*c->runs), compare_runs);
	for (i = 0; i < c->run_count; i++) {
		if (kept && c->runs[i].start <= c->runs[kept - 1].end)
			c->runs[kept - 1].end = MAX(c->runs[kept - 1].end, c->runs[i].end);
		else
			c->runs[kept++] = c->runs[i];
	}
	c->run_count = kept;
}

/* Called for every address that the code refers to, which a listing will name. */
static void keep_name(uint64_t address, struct strbuf *out, void *data)
{
	struct cutting *c = data;
	uint64_t offset;

	(void)out;
	if (binary_offset(c->b, c->is_kernel, address, &offset))
		keep_at(c, offset, KEEP_NAME);
}

/* Disassembles the kept code for the names it refers to and the addresses of its instructions. If
 * its machine is unknown here, nobody will disassemble it. */
static void read_code(struct cutting *c)
{
	_cleanup_(disasm_freep) struct disasm *d = NULL;
	const struct symtab *st = c->b->symtab;
	size_t i, n = symtab_count(st);
	struct disasm_insn insn;

	if (disasm_new(c->b->file, NULL, keep_name, c, &d, NULL) < 0)
		return;
	for (i = 0; i < n; i++) {
		const struct symbol *piece = symtab_at(st, i);

		if (!(c->keep[piece->whole] & KEEP_CODE) ||
		    !disasm_seek(d, piece->address, piece->address + (piece->end - piece->offset)))
			continue;
		while (disasm_next(d, &insn))
			add_place(&c->asked, insn.address);
	}
}

/* --- symbols --- */

/* Finds the string table of .symtab, which the pointers of the symbol table point into. */
static void find_strings(struct cutting *c)
{
	struct elf_section section;
	const Elf_Data *data;

	if (!elffile_find_section(c->b->file, ".strtab", &section))
		return;
	data = elffile_data(&section);
	if (!data || ((const char *)data->d_buf)[data->d_size - 1])
		return;
	c->strings = data->d_buf;
	c->strings_end = c->strings + data->d_size;
}

/* The name that gprof sees after @name; ".", which gprof rejects, if there is none. */
static const char *name_after(const struct cutting *c, const char *name)
{
	const char *next;

	if (!strchr(name, '.'))
		return NULL;
	if (!c->strings || name < c->strings || name >= c->strings_end)
		return ".";
	next = name + strlen(name) + 1;
	return next < c->strings_end ? next : ".";
}

static void add_symbol(struct cutting *c, struct elf_subset_symbol symbol)
{
	symbol.next = name_after(c, symbol.name);
	array_grow(&c->symbols, c->symbol_count + 1, &c->symbol_room);
	c->symbols[c->symbol_count++] = symbol;
}

static void collect_symbols(struct cutting *c)
{
	const struct symtab *st = c->b->symtab;
	size_t i, n = symtab_count(st);
	_cleanup_free_ uint64_t *ends = xcalloc(n + 1, sizeof(*ends));

	for (i = 0; i < n; i++)
		ends[symtab_at(st, i)->whole] = symtab_at(st, i)->end;
	for (i = 0; i < n; i++) {
		const struct symbol *sym = symtab_at(st, i);

		if (c->keep[i])
			add_symbol(c, (struct elf_subset_symbol){
					      .name = sym->name,
					      .address = sym->address,
					      .size = ends[i] - sym->offset,
					      .is_go = sym->rank & SYMBOL_GO,
				      });
	}
	if (c->is_kernel)
		add_symbol(c, (struct elf_subset_symbol){ .name = "_text",
							  .address = symtab_at(st, 0)->address -
								     symtab_at(st, 0)->offset });
}

/* --- lines --- */

static int compare_places(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

static void sort_places(struct places *p)
{
	size_t i, n = 0;

	if (p->count)
		qsort(p->list, p->count, sizeof(*p->list), compare_places);
	for (i = 0; i < p->count; i++)
		if (n == 0 || p->list[n - 1] != p->list[i])
			p->list[n++] = p->list[i];
	p->count = n;
}

/* The inlined calls of the code from ->start on; a copy, because the next lookup discards them. */
struct chain {
	uint64_t start;
	struct lines_call *calls;
	size_t count, room;
};

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool is_same_chain(const struct chain *c, const struct lines_call *calls, size_t count)
{
	size_t i;

	if (c->count != count)
		return false;
	for (i = 0; i < count; i++)
		if (c->calls[i].at.line != calls[i].at.line ||
		    !is_same_text(c->calls[i].function, calls[i].function) ||
		    !is_same_text(c->calls[i].at.file, calls[i].at.file))
			return false;
	return true;
}

/* Writes the calls that reach from ->start up to @end, the outermost around the others. */
static void end_chain(struct chain *c, uint64_t end, struct line_table *to)
{
	size_t i;

	for (i = c->count; i-- > 0;)
		line_table_enter(to, c->calls[i].function, c->calls[i].at.file, c->calls[i].at.line,
				 c->start, end);
	for (i = 0; i < c->count; i++)
		line_table_leave(to);
	c->count = 0;
}

static void copy_calls(struct chain *c, struct lines *lines, uint64_t address,
		       struct line_table *to)
{
	const struct lines_call *calls = NULL;
	size_t count = lines_inlines(lines, address, &calls);

	if (is_same_chain(c, calls, count))
		return;
	end_chain(c, address, to);
	array_grow(&c->calls, count, &c->room);
	if (count)
		memcpy(c->calls, calls, count * sizeof(*calls));
	c->count = count;
	c->start = address;
}

/* Looks up the line of every place, in order, and writes each change. */
static void copy_lines(struct cutting *c, struct lines *lines, struct line_table *to)
{
	struct chain chain = { 0 };
	size_t i, run = 0, open = SIZE_MAX; /* the run whose function is open */

	for (i = 0; i < c->asked.count; i++) {
		uint64_t address = c->asked.list[i];
		struct lines_place at = { 0 };
		bool found = lines_find(lines, address, &at), inside;

		while (run < c->run_count && c->runs[run].end <= address) {
			end_chain(&chain, c->runs[run].end, to);
			line_table_end(to, c->runs[run++].end);
		}
		inside = run < c->run_count && address >= c->runs[run].start;
		line_table_add(to, address, found ? at.file : NULL, at.line);
		if (!inside) {
			line_table_end(to, address + 1);
			continue;
		}
		if (open != run)
			line_table_function(to, "code", c->runs[run].start, c->runs[run].end);
		open = run;
		copy_calls(&chain, lines, address, to);
	}
	if (run < c->run_count) {
		end_chain(&chain, c->runs[run].end, to);
		line_table_end(to, c->runs[run].end);
	}
	free(chain.calls);
}

static struct line_table *read_lines(struct cutting *c)
{
	const GElf_Ehdr *header = elffile_header(c->b->file);
	_cleanup_(lines_freep) struct lines *lines = lines_new(c->b->file, c->b->debug);
	struct line_table *to;
	uint64_t address;
	size_t i;

	if (!lines_exist(lines))
		return NULL;
	for (i = 0; i < c->used->count; i++)
		if (address_of(c, c->used->offsets[i], &address))
			add_place(&c->asked, address);
	for (i = 0; i < c->symbol_count; i++)
		if (c->symbols[i].size)
			add_place(&c->asked, c->symbols[i].address);
	sort_places(&c->asked);
	to = line_table_new(header->e_ident[EI_CLASS] == ELFCLASS64,
			    header->e_ident[EI_DATA] == ELFDATA2MSB);
	copy_lines(c, lines, to);
	return to;
}

static void cut(struct cutting *c)
{
	size_t i;

	c->keep = xcalloc(symtab_count(c->b->symtab) + 1, sizeof(*c->keep));
	for (i = 0; i < c->used->count; i++)
		keep_at(c, c->used->offsets[i], KEEP_CODE);
	/* Keep one name, so that a file whose samples are in no symbol does not look like one
	 * without symbols. */
	c->keep[symtab_at(c->b->symtab, 0)->whole] |= KEEP_NAME;
	collect_runs(c);
	read_code(c);
	keep_inner(c);
	find_strings(c);
	collect_symbols(c);
}

/* Adds the names' addresses to @u, because kernel symbols are written to a separate file from
 * these. */
static void note_names(const struct cutting *c, struct used_offsets *u)
{
	size_t i, n = symtab_count(c->b->symtab);

	for (i = 0; i < n; i++)
		if (c->keep[i])
			used_offsets_add(u, symtab_at(c->b->symtab, i)->offset);
	used_offsets_settle(u);
}

int compact_image(const struct binary *b, struct used_offsets *u, bool is_kernel, void **ret,
		  size_t *ret_size, struct error *err)
{
	_cleanup_(line_table_freep) struct line_table *lines = NULL;
	struct line_table_section sections[LINE_TABLE_SECTIONS];
	struct cutting c = { .b = b, .used = u, .is_kernel = is_kernel };
	struct elf_subset s = { .ef = b->file };
	int r;

	if (b->symtab)
		cut(&c);
	lines = read_lines(&c);
	/* Also an empty one says that there was debug information. */
	if (lines) {
		line_table_finish(lines, sections);
		s.debug = sections;
	}
	s.runs = c.runs;
	s.run_count = c.run_count;
	s.symbols = c.symbols;
	s.symbol_count = c.symbol_count;
	r = elf_subset_write(&s, ret, ret_size, err);
	if (r == 0 && is_kernel && b->symtab)
		note_names(&c, u);
	free(c.keep);
	free(c.runs);
	free(c.symbols);
	free(c.asked.list);
	return r;
}
