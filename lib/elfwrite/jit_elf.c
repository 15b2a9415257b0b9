/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elfwrite/jit_elf.h"

#include "base/mem.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "elfwrite/internal/elf_writer.h"
#include "elfwrite/kept_code.h"
#include "elfwrite/line_table.h"
#include "jit/jit.h"
#include "jit/jit_inlined.h"
#include "symbol/demangle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	GAP_MIN = 4096, /* pieces of code closer together than this share a section */
	SECTIONS_MAX = 4096,
	CALLS_MAX = 1 << 20 /* inlined calls in a file; code after that has none */
};

/* The pieces of code; no two are at one place. */
struct jit_elf {
	const struct jit_code **codes;
	size_t count;
};

/* The same, sorted by place. */
struct code_list {
	const struct jit_code **codes;
	size_t count;
};

struct jit_elf *jit_elf_new(const struct jit *j)
{
	struct jit_elf *e = xcalloc(1, sizeof(*e));
	size_t i;

	e->codes = xreallocarray(NULL, jit_count(j) + 1, sizeof(*e->codes));
	for (i = 0; i < jit_count(j); i++)
		if (!jit_at(j, i)->renewed)
			e->codes[e->count++] = jit_at(j, i);
	return e;
}

void jit_elf_free(struct jit_elf *e)
{
	if (!e)
		return;
	free(e->codes);
	free(e);
}

static int by_place(const void *a, const void *b)
{
	const struct jit_code *x = *(const struct jit_code *const *)a,
			      *y = *(const struct jit_code *const *)b;

	return (x->place > y->place) - (x->place < y->place);
}

static struct code_list sort_codes(const struct jit_elf *e)
{
	struct code_list l = { .count = e->count };

	l.codes = xreallocarray(NULL, l.count + 1, sizeof(*l.codes));
	memcpy(l.codes, e->codes, l.count * sizeof(*l.codes));
	qsort(l.codes, l.count, sizeof(*l.codes), by_place);
	return l;
}

static void code_list_done(struct code_list *l)
{
	free(l->codes);
}

static uint64_t end_of(const struct jit_code *c)
{
	return c->place + c->size;
}

/* The end of the pieces from @first on that have no gap of more than @gap between them. */
static size_t cluster_end(const struct code_list *l, size_t first, uint64_t gap)
{
	size_t end = first + 1;

	while (end < l->count && l->codes[end]->place - end_of(l->codes[end - 1]) <= gap)
		end++;
	return end;
}

/* The smallest gap that leaves few enough sections. */
static uint64_t choose_gap(const struct code_list *l)
{
	uint64_t gap = GAP_MIN;

	for (;; gap *= 2) {
		size_t first, count = 0;

		for (first = 0; first < l->count; first = cluster_end(l, first, gap))
			count++;
		if (count <= SECTIONS_MAX)
			return gap;
	}
}

/* The bytes of @count pieces that start at @start, zeros where they are unknown; caller frees.
 * NULL if all are unknown. */
static uint8_t *copy_bytes(const struct jit_code *const *codes, size_t count, uint64_t start,
			   uint64_t size)
{
	uint8_t *bytes = NULL;
	size_t i;

	if (size > 2 * (size_t)JIT_BYTES_MAX)
		return NULL;
	for (i = 0; i < count; i++) {
		if (!codes[i]->bytes)
			continue;
		if (!bytes)
			bytes = xcalloc(1, size);
		memcpy(bytes + (codes[i]->place - start), codes[i]->bytes, codes[i]->size);
	}
	return bytes;
}

/* Pieces of code close to each other: a section, a segment, and a symbol each. */
static void add_cluster(struct elf_writer *w, const struct jit_code *const *codes, size_t count)
{
	uint64_t start = codes[0]->place, size = end_of(codes[count - 1]) - start;
	uint8_t *bytes = elf_writer_keep(w, copy_bytes(codes, count, start, size));
	GElf_Shdr header = { .sh_type = bytes ? SHT_PROGBITS : SHT_NOBITS,
			     .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			     .sh_addr = start,
			     .sh_addralign = 1 };
	GElf_Phdr segment = { .p_type = PT_LOAD,
			      .p_flags = PF_R | PF_X,
			      .p_vaddr = start,
			      .p_paddr = start,
			      .p_filesz = bytes ? size : 0,
			      .p_memsz = size,
			      .p_align = 1 };
	size_t i, section = elf_writer_section(w, ".text", &header, bytes, size);

	elf_writer_segment(w, &segment, section);
	for (i = 0; i < count; i++)
		elf_writer_symbol(w,
				  &(GElf_Sym){ .st_info = GELF_ST_INFO(STB_GLOBAL, STT_FUNC),
					       .st_shndx = (GElf_Section)section,
					       .st_value = codes[i]->place,
					       .st_size = codes[i]->size },
				  codes[i]->name, NULL);
}

static void add_code(struct elf_writer *w, const struct code_list *l)
{
	uint64_t gap = choose_gap(l);
	size_t first, end;

	for (first = 0; first < l->count; first = end) {
		end = cluster_end(l, first, gap);
		add_cluster(w, l->codes + first, end - first);
	}
}

/* Where the inlined calls of a piece of code go. */
struct call_writer {
	struct line_table *table;
	const struct jit_code *code;
	struct jit_inlined inlined;
	size_t left; /* calls that may still be written */
};

/* The end of the rows from @first up to @end that are inside the same call at @depth. */
static size_t call_end(const struct jit_inlined *in, size_t first, size_t end, unsigned int depth)
{
	uint32_t call = jit_inlined_at(in, first, depth);

	while (++first < end && jit_inlined_at(in, first, depth) == call)
		;
	return first;
}

/* Writes the calls at @depth of the rows from @first up to @end, each around what it calls. */
static void put_calls(struct call_writer *w, size_t first, size_t end, unsigned int depth)
{
	const struct jit_inlined *in = &w->inlined;
	size_t next;

	for (; first < end && w->left; first = next) {
		uint32_t number = jit_inlined_at(in, first, depth);
		_cleanup_free_ char *readable = NULL;
		const struct jit_inlined_call *c;
		uint64_t to;

		next = call_end(in, first, end, depth);
		if (!number)
			continue;
		c = &in->calls[number - 1];
		w->left--;
		to = next < in->row_count ? in->rows[next].offset : w->code->size;
		readable = demangle_method(c->function);
		line_table_enter(w->table, readable ?: c->function, *c->file ? c->file : NULL,
				 c->line, w->code->place + in->rows[first].offset,
				 w->code->place + to);
		put_calls(w, first, next, depth + 1);
		line_table_leave(w->table);
	}
}

/* Writes the calls inlined into the code. */
static void put_inlined(struct call_writer *w, const struct jit_code *code)
{
	struct span bytes = span_of(code->inlined, code->inlined_bytes);

	if (!bytes.left || !w->left || !jit_inlined_read(bytes, code->size, &w->inlined))
		return;
	w->code = code;
	line_table_function(w->table, code->name, code->place, end_of(code));
	put_calls(w, 0, w->inlined.row_count, 1);
	jit_inlined_done(&w->inlined);
}

static struct line_table *collect_lines(const struct code_list *l)
{
	struct line_table *t = line_table_new(true, __BYTE_ORDER == __BIG_ENDIAN);
	struct call_writer calls = { .table = t, .left = CALLS_MAX };
	size_t i, k;

	for (i = 0; i < l->count; i++) {
		const struct jit_code *c = l->codes[i];

		for (k = 0; k < c->line_count; k++) {
			uint64_t offset = c->lines[k].address - c->address;

			if (offset < c->size)
				line_table_add(t, c->place + offset, c->lines[k].file,
					       c->lines[k].line);
		}
		line_table_end(t, end_of(c));
		put_inlined(&calls, c);
	}
	return t;
}

static void add_kept(struct elf_writer *w, const struct code_list *l)
{
	const GElf_Shdr header = { .sh_type = SHT_PROGBITS, .sh_addralign = 1 };
	struct strbuf kept = STRBUF_INIT;
	size_t i;

	for (i = 0; i < l->count; i++)
		kept_code_put(&kept, l->codes[i]);
	if (kept.length)
		(void)elf_writer_section(w, KEPT_CODE_SECTION, &header,
					 elf_writer_keep(w, kept.text), kept.length);
}

static unsigned int machine(void)
{
#if defined(__x86_64__)
	return EM_X86_64;
#elif defined(__aarch64__)
	return EM_AARCH64;
#elif defined(__powerpc64__)
	return EM_PPC64;
#elif defined(__s390x__)
	return EM_S390;
#elif defined(__riscv)
	return EM_RISCV;
#else
	return EM_NONE;
#endif
}

static int write_elf(const struct jit_elf *e, int fd)
{
	_cleanup_(code_list_done) struct code_list codes = sort_codes(e);
	_cleanup_(line_table_freep) struct line_table *lines = collect_lines(&codes);
	_cleanup_(elf_writer_done) struct elf_writer w = { 0 };
	struct line_table_section debug[LINE_TABLE_SECTIONS];
	GElf_Ehdr header = { .e_type = ET_EXEC, .e_machine = (GElf_Half)machine() };

	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	elf_writer_begin(&w, fd, &header);
	add_code(&w, &codes);
	add_kept(&w, &codes);
	line_table_finish(lines, debug);
	return elf_writer_finish(&w, line_table_any(lines) ? debug : NULL);
}

int jit_elf_write(const struct jit_elf *e, const char *path, struct error *err)
{
	_cleanup_free_ char *temporary = xasprintf("%s.%d.tmp", path, (int)gettid());
	_cleanup_close_ int fd = open_regular_new(temporary, O_RDWR, 0644);
	int r = 0, status;

	if (fd < 0)
		return error_errno(err, fd, "%s", temporary);
	if (write_elf(e, fd) < 0)
		r = error_set(err, -EIO, "%s: %s", path, elf_errmsg(-1));
	/* Without a sync (path_publish()): a host with many compilers writes many of these at once,
	 * while samples wait. A power cut may cost the names of code, but no sample. */
	status = path_put(temporary, path, 0, r);
	return status < 0 && r == 0 ? error_errno(err, status, "%s", path) : status;
}
