/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/elfcode.h"

#include "base/arena.h"
#include "base/mem.h"
#include "gosym/gosym.h"
#include "symbol/elfsym.h"
#include "symbol/internal/called.h"
#include "unwind/unwind_functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pieces shorter than this where no function starts are padding. */
enum { PIECE_MIN = 16 };

struct elfcode {
	struct elffile *ef;
	struct unwind_functions functions;
};

struct filling {
	struct elffile *ef;
	const char *name;
	struct symtab *st;
	struct arena *names;
	struct symbol *pieces;
	size_t count, room;
	size_t seek; /* index in the table near the last piece */
};

static void release_names(void *names)
{
	arena_done(names);
	free(names);
}

char *elfcode_name(struct arena *names, const char *file, uint64_t address)
{
	size_t room = strlen(file) + sizeof("[+0x0123456789abcdef]");
	char *name = arena_alloc(names, room);

	(void)snprintf(name, room, "[%s+0x%" PRIx64 "]", file, address);
	return name;
}

static void add_piece(struct filling *f, uint64_t offset, uint64_t end, uint64_t address)
{
	array_grow(&f->pieces, f->count + 1, &f->room);
	f->pieces[f->count++] = (struct symbol){ .offset = offset,
						 .end = end,
						 .limit = end,
						 .address = address,
						 .name = elfcode_name(f->names, f->name, address),
						 .rank = SYMBOL_LOCAL | SYMBOL_SYNTHETIC };
}

/* Finds the next gap between symbols in the offsets from *@at up to @last: moves *@at to its start
 * and stores its end. */
static bool next_gap(struct filling *f, uint64_t *at, uint64_t last, uint64_t *ret_end)
{
	while (*at < last) {
		const struct symbol *sym;

		f->seek = symtab_seek(f->st, f->seek, *at);
		sym = f->seek < symtab_count(f->st) ? symtab_at(f->st, f->seek) : NULL;
		if (!sym || sym->offset > *at) {
			*ret_end = sym ? MIN(last, sym->offset) : last;
			return true;
		}
		*at = sym->end;
	}
	return false;
}

/* Adds pieces for the gaps between symbols in the code from the linked address @start up to @end. A
 * piece at @start must have at least @least bytes. */
static void fill(struct filling *f, uint64_t start, uint64_t end, uint64_t least)
{
	uint64_t at, until, base;

	if (!elffile_offset(f->ef, start, &base))
		return;
	for (at = base; next_gap(f, &at, base + (end - start), &until); at = until)
		if (until - at >= (at == base ? least : PIECE_MIN))
			add_piece(f, at, until, start + (at - base));
}

/* Finds functions, on machines whose call frame information is supported. */
static void find_functions(struct unwind_functions *functions)
{
	const GElf_Ehdr *header = elffile_header(functions->ef);
	bool is_64_bit = header->e_ident[EI_CLASS] == ELFCLASS64;

	if (header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_type == ET_REL)
		return;
	if (header->e_machine == EM_X86_64 && is_64_bit)
		functions->machine = UNWIND_X86_64;
	else if (header->e_machine == EM_AARCH64 && is_64_bit)
		functions->machine = UNWIND_AARCH64;
	else if (header->e_machine == EM_386 && !is_64_bit)
		functions->machine = UNWIND_I386;
	else
		return;
	functions->top = UINT64_MAX;
	unwind_functions_find(functions);
}

struct elfcode *elfcode_new(struct elffile *ef)
{
	struct elfcode *code = xcalloc(1, sizeof(*code));

	code->ef = ef;
	code->functions.ef = ef;
	find_functions(&code->functions);
	return code;
}

void elfcode_free(struct elfcode *code)
{
	if (!code)
		return;
	unwind_functions_done(&code->functions);
	free(code);
}

/* Whether it is a function of crtbegin.o, which has no sizes and no call frame information. The
 * last one is followed by the program, which may have neither symbols nor such information. */
static bool is_start_file(const char *name)
{
	return !strcmp(name, "frame_dummy") || !strcmp(name, "__do_global_dtors_aux") ||
	       !strcmp(name, "register_tm_clones") || !strcmp(name, "deregister_tm_clones");
}

/* The start of a trampoline for signal handlers in the bytes: "mov $15, %rax; syscall" (x86-64,
 * rt_sigreturn) and the byte before, by which debuggers look it up. Returns the number of bytes if
 * there is none. */
static uint64_t find_trampoline(const uint8_t *bytes, size_t size)
{
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	const uint8_t *at = bytes ? memmem(bytes, size, code, sizeof(code)) : NULL;

	if (!at)
		return size;
	return (uint64_t)(at - bytes) - (at > bytes && at[-1] == 0x90);
}

/* The end of a symbol without a size. */
static uint64_t limit_of(const struct symbol *symbol, void *data)
{
	enum { START_FILE_BYTES = 128, SEARCHED_BYTES = 65536 };
	struct elfcode *code = data;
	uint64_t end, size;

	if (unwind_functions_end(&code->functions, symbol->address, &end))
		return symbol->offset + (end - symbol->address);
	size = MIN(end - symbol->address, symbol->limit - symbol->offset);
	if (is_start_file(symbol->name))
		size = MIN(size, (uint64_t)START_FILE_BYTES);
	if (elffile_header(code->ef)->e_machine == EM_X86_64 && size <= SEARCHED_BYTES)
		size = find_trampoline(elffile_bytes(code->ef, symbol->offset, size), size);
	return symbol->offset + size;
}

void elfcode_limit(struct elfcode *code, struct symtab *st)
{
	symtab_limit(st, limit_of, code);
}

/* Fills the gaps of a section, split at each function start. */
static void fill_section(struct filling *f, const struct unwind_functions *functions,
			 uint64_t start, uint64_t end)
{
	size_t low = FIRST_NOT(i, 0, functions->count, functions->all[i].start < start);
	uint64_t least = PIECE_MIN;

	f->seek = 0;
	for (; low < functions->count && functions->all[low].start < end; low++) {
		fill(f, start, functions->all[low].start, least);
		start = functions->all[low].start;
		least = 1;
	}
	fill(f, start, end, least);
}

static int by_offset(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Drops pieces that overlap: sections of a damaged file may. */
static void drop_overlaps(struct filling *f)
{
	size_t i, n = 0;

	for (i = 0; i < f->count; i++)
		if (!n || f->pieces[i].offset >= f->pieces[n - 1].end)
			f->pieces[n++] = f->pieces[i];
	f->count = n;
}

bool elfcode_is_name(const char *name)
{
	const char *plus = *name == '[' ? strrchr(name, '+') : NULL;
	size_t digits;

	if (!plus || strncmp(plus, "+0x", 3) != 0)
		return false;
	digits = strspn(plus + 3, "0123456789abcdef");
	return digits && !strcmp(plus + 3 + digits, "]");
}

/* Fills the gaps in all code: sections or, without section headers, segments. */
static void fill_code(struct filling *f, const struct unwind_functions *functions)
{
	uint64_t start, end;
	size_t i;

	for (i = 0; i < elffile_section_count(f->ef); i++) {
		struct elf_section s;

		if (!elffile_section(f->ef, i, &s) || !elffile_section_is_code(f->ef, &s) ||
		    s.header.sh_type == SHT_NOBITS)
			continue;
		start = elffile_section_base(f->ef, i);
		if (!__builtin_add_overflow(start, s.header.sh_size, &end))
			fill_section(f, functions, start, end);
	}
	for (i = 0;
	     elffile_section_count(f->ef) == 0 && elffile_code_segment(f->ef, i, &start, &end); i++)
		fill_section(f, functions, start, end);
}

/* Ends symbols without a size where a function begins that other code calls. */
static void cut_called(struct elfcode *code, struct symtab *st)
{
	_cleanup_free_ struct called_range *ranges = NULL;
	size_t i, k = 0, count = 0, room = 0;

	for (i = 0; i < symtab_count(st); i++) {
		const struct symbol *s = symtab_at(st, i);
		uint64_t end;

		if (!(s->rank & SYMBOL_ASSUMED_END) ||
		    unwind_functions_end(&code->functions, s->address, &end))
			continue;
		array_grow(&ranges, count + 1, &room);
		ranges[count++] = (struct called_range){ .start = s->address,
							 .end = s->address + (s->end - s->offset),
							 .symbol = i };
	}
	called_cut(code->ef, ranges, count);
	for (k = 0; k < count; k++)
		symtab_shorten(st, ranges[k].symbol, ranges[k].end - ranges[k].start);
}

/* Gives each part of an object that is in a gap its name. */
static void insert_objects(struct elfcode *code, const struct symtab *objects, struct symtab *st)
{
	struct filling f = { .ef = code->ef, .st = st };
	uint64_t at, until;
	size_t i;

	for (i = 0; objects && i < symtab_count(objects); i++) {
		const struct symbol *s = symtab_at(objects, i);
		const struct symbol *first = symtab_at(objects, s->whole);

		for (at = s->offset; next_gap(&f, &at, s->end, &until); at = until) {
			array_grow(&f.pieces, f.count + 1, &f.room);
			f.pieces[f.count] = *s;
			f.pieces[f.count].address = first->address + (at - first->offset);
			f.pieces[f.count].offset = at;
			f.pieces[f.count++].end = until;
		}
	}
	symtab_insert(st, f.pieces, f.count);
	free(f.pieces);
}

size_t elfcode_fill(struct elfcode *code, const char *name, const struct symtab *objects,
		    struct symtab *st)
{
	struct filling f = { .ef = code->ef, .name = name, .st = st };

	cut_called(code, st);
	insert_objects(code, objects, st);
	f.names = xcalloc(1, sizeof(*f.names));
	symtab_hold(st, f.names, release_names);
	fill_code(&f, &code->functions);
	if (f.count)
		qsort(f.pieces, f.count, sizeof(*f.pieces), by_offset);
	drop_overlaps(&f);
	symtab_insert(st, f.pieces, f.count);
	free(f.pieces);
	return f.count;
}

/* Adds the functions of a Go program. They have priority over its symbols, because these have other
 * forms of the same names, and not all programs have them. */
static void load_go(const struct elfcode *code, struct symtab *st)
{
	const struct gosym *go = code->functions.go;
	struct gosym_function fn;
	struct symbol s = { .rank = SYMBOL_GO };
	size_t i;

	for (i = 0; go && i < gosym_count(go); i++) {
		if (!gosym_at(go, i, &fn) || !elffile_offset(code->ef, fn.start, &s.offset))
			continue;
		s.address = fn.start;
		s.limit = s.end = s.offset + (fn.end - fn.start);
		s.name = fn.name;
		symtab_add(st, &s);
	}
}

struct symtab *elfcode_symbols(struct elffile *ef, struct elffile *debug, const char *name)
{
	_cleanup_(elfcode_freep) struct elfcode *code = elfcode_new(ef);
	_cleanup_(symtab_freep) struct symtab *objects = symtab_new();
	struct symtab *st = symtab_new();

	if (debug)
		symtab_hold(st, debug, elfsym_release);
	symtab_hold(st, ef, elfsym_release);
	load_go(code, st);
	(void)elfsym_load(ef, debug, ELFSYM_FILE_OFFSET, st);
	elfsym_load_plt(ef, st);
	elfcode_limit(code, st);
	symtab_settle(st);
	(void)elfsym_load_objects(ef, debug, objects);
	symtab_settle(objects);
	(void)elfcode_fill(code, name, objects, st);
	return st;
}
