/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind_functions.h"

#include "base/mem.h"
#include "elf/elffile.h"
#include "gosym/gosym.h"
#include "unwind/internal/cfi.h"
#include "unwind/internal/plt_shape.h"
#include "unwind/internal/stack_exits.h"
#include "unwind/internal/unwind_go.h"

#include <dwarf.h>

enum {
	/* Larger images are not searched for signal trampolines: the vdso is two pages. */
	TRAMPOLINE_IMAGE_MAX = 16384,
	/* Bytes after the entry point that belong to it, if nothing describes them. */
	ENTRY_BYTES = 256,
};

/* For code that has no caller. */
static const struct unwind_rule outermost = { .cfa = UNWIND_CFA_END };

/* Limit on the size of a section, for what it takes to go through it. */
static const uint64_t section_max = 1ULL << 28;

static void add_function(struct unwind_functions *f, uint64_t start, uint64_t offset,
			 enum unwind_source source)
{
	uint64_t base = f->base;

	/* Functions that the linker discarded start at 0 or 1. */
	if (start < base || start - base >= f->top || offset > UINT32_MAX)
		return;
	if (f->count == f->room)
		array_grow(&f->all, f->count + 1, &f->room);
	f->all[f->count++] = (struct unwind_function){ start, (uint32_t)offset, source };
}

static struct cfi *new_section(const struct unwind_functions *f, bool is_debug)
{
	struct cfi *cfi = xcalloc(1, sizeof(*cfi));

	cfi->machine = f->machine;
	cfi->debug = is_debug;
	return cfi;
}

static void free_section(struct cfi *cfi)
{
	if (cfi)
		cfi_done(cfi);
	free(cfi);
}

/* Stores the rule for all code of a function up to @end; returns its index in ->bare. */
static uint32_t new_bare(struct unwind_functions *f, uint64_t end, const struct unwind_rule *rule)
{
	array_grow(&f->bare, f->bare_count + 1, &f->bare_room);
	f->bare[f->bare_count] = (struct unwind_bare){ end, rule };
	return (uint32_t)f->bare_count++;
}

/* Adds @bytes of code at @start to which @rule applies. */
static void add_bare(struct unwind_functions *f, uint64_t start, uint64_t bytes,
		     const struct unwind_rule *rule)
{
	add_function(f, start, new_bare(f, start + bytes, rule), UNWIND_SOURCE_NONE);
}

static struct cfi *section_of(struct unwind_functions *f, enum unwind_source source)
{
	return source == UNWIND_SOURCE_DEBUG ? f->debug : f->eh;
}

/* Whether the record at @offset, which is not an FDE, ends the section: it has no length (LSB Core,
 * 10.6.1). A hole in a file reads as such records. */
static bool is_terminator(enum unwind_source source, size_t offset, size_t next)
{
	return source == UNWIND_SOURCE_EH && next - offset == sizeof(uint32_t);
}

/* Finds the functions of a section by reading it. */
static void walk(struct unwind_functions *f, enum unwind_source source)
{
	struct cfi *cfi = section_of(f, source);
	size_t offset = 0, next;
	struct cfi_fde fde;
	int r;

	for (; offset < cfi->bytes.left; offset = next) {
		r = cfi_read(cfi, offset, &fde, &next);
		if (r == 0 && is_terminator(source, offset, next))
			break;
		if (r < 0)
			f->bad_count++;
		else if (r && fde.end > fde.start)
			add_function(f, fde.start, offset, source);
	}
}

bool unwind_functions_bytes(const struct unwind_functions *f, uint64_t address, struct span *ret)
{
	struct span file = elffile_whole(f->ef);
	uint64_t offset;

	if (!elffile_offset(f->ef, address, &offset) || offset >= file.left)
		return false;
	*ret = span_of(file.at + offset, file.left - (size_t)offset);
	return true;
}

/* .eh_frame_hdr: where .eh_frame is, and all its FDEs sorted by start. */
struct index {
	uint64_t address;  /* of .eh_frame_hdr */
	uint64_t eh_frame; /* address of .eh_frame */
	struct span pairs; /* start and FDE, 4 bytes each, relative to ->address; may be empty */
};

static bool find_index(const struct unwind_functions *f, struct index *ret)
{
	size_t i, count = 0;
	struct span in = { NULL, 0 };
	const uint8_t *head;
	uint64_t entries;
	GElf_Phdr ph;

	if (elf_getphdrnum(elffile_elf(f->ef), &count) < 0)
		return false;
	for (i = 0; i < count; i++)
		if (gelf_getphdr(elffile_elf(f->ef), (int)i, &ph) && ph.p_type == PT_GNU_EH_FRAME)
			break;
	if (i == count || !unwind_functions_bytes(f, ph.p_vaddr, &in))
		return false;
	in.left = MIN(in.left, (size_t)section_max);
	in.left = MIN(in.left, (size_t)ph.p_filesz);
	head = span_take(&in, 4);
	*ret = (struct index){ .address = ph.p_vaddr };
	if (!head || head[0] != 1 ||
	    cfi_pointer(&in, head[1], ph.p_vaddr + 4, ph.p_vaddr, &ret->eh_frame) < 0)
		return false;
	if (head[3] == (DW_EH_PE_datarel | DW_EH_PE_sdata4) && head[2] != DW_EH_PE_omit &&
	    cfi_pointer(&in, head[2], 0, 0, &entries) == 0 && entries <= in.left / 8)
		ret->pairs = span_of(in.at, (size_t)entries * 8);
	return true;
}

/* The address at @at: a start, or, 4 bytes further, that of its FDE. */
static uint64_t indexed_address(const struct index *index, const uint8_t *at)
{
	return index->address + (uint64_t)(int32_t)get_le32(at);
}

/* Whether entry @i of the index agrees with the section. */
static bool index_is_true(struct unwind_functions *f, const struct index *index, size_t i)
{
	const uint8_t *pair = index->pairs.at + i * 8;
	uint64_t offset = indexed_address(index, pair + 4) - f->eh->address;
	struct cfi_fde fde;
	size_t next;

	return offset < f->eh->bytes.left && cfi_read(f->eh, (size_t)offset, &fde, &next) == 1 &&
	       fde.start == indexed_address(index, pair);
}

/* Finds the functions through the index; false, with no functions, if it is not one of this
 * section. */
static bool read_indexed(struct unwind_functions *f, const struct index *index)
{
	size_t entries = index->pairs.left / 8;
	const uint8_t *pair = index->pairs.at, *end;
	uint64_t start, last = 0;

	if (!entries || !index_is_true(f, index, 0) || !index_is_true(f, index, entries / 2) ||
	    !index_is_true(f, index, entries - 1))
		return false;
	array_grow(&f->all, entries, &f->room);
	for (end = pair + entries * 8; pair < end; pair += 8, last = start) {
		start = indexed_address(index, pair);
		if (start < last) {
			f->count = 0;
			return false;
		}
		add_function(f, start, indexed_address(index, pair + 4) - f->eh->address,
			     UNWIND_SOURCE_EH);
	}
	return true;
}

static void read_eh_frame(struct unwind_functions *f)
{
	struct index index;
	bool indexed = find_index(f, &index);
	struct elf_section s;
	const Elf_Data *data;

	if (elffile_find_section(f->ef, ".eh_frame", &s) && (data = elffile_data(&s))) {
		f->eh->bytes = span_of(data->d_buf, data->d_size);
		f->eh->address = s.header.sh_addr;
	} else if (indexed && unwind_functions_bytes(f, index.eh_frame, &f->eh->bytes)) {
		f->eh->address = index.eh_frame;
	} else {
		return;
	}
	f->eh->bytes.left = MIN(f->eh->bytes.left, (size_t)section_max);
	f->cfi_bytes = f->eh->bytes.left;
	if (!indexed || !read_indexed(f, &index))
		walk(f, UNWIND_SOURCE_EH);
}

/* The bytes of .debug_frame, however it is compressed. */
static const Elf_Data *debug_frame(struct unwind_functions *f)
{
	struct elf_section s;
	GElf_Chdr compression;

	if (elffile_find_section(f->ef, ".debug_frame", &s)) {
		if (!(s.header.sh_flags & SHF_COMPRESSED))
			return elffile_data(&s);
		if (!gelf_getchdr(s.scn, &compression) || compression.ch_size > section_max)
			return NULL;
		if (elf_compress(s.scn, 0, 0) < 0)
			elffile_check_memory();
	} else if (elffile_find_section(f->ef, ".zdebug_frame", &s)) {
		/* The size is in the section; libelf does not decompress more than that. */
		const Elf_Data *raw = elffile_data(&s);

		if (!raw || raw->d_size < 12 ||
		    get_be64((const uint8_t *)raw->d_buf + 4) > section_max)
			return NULL;
		if (elf_compress_gnu(s.scn, 0, 0) < 0)
			elffile_check_memory();
	} else {
		return NULL;
	}
	return elffile_section(f->ef, s.index, &s) ? elffile_data(&s) : NULL;
}

/* Describes code that .eh_frame omits: compiled without unwind tables, with debug information. */
static void read_debug_frame(struct unwind_functions *f)
{
	const Elf_Data *data = debug_frame(f);

	if (!data)
		return;
	f->debug->bytes = span_of(data->d_buf, MIN(data->d_size, (size_t)section_max));
	f->cfi_bytes += data->d_size;
	walk(f, UNWIND_SOURCE_DEBUG);
}

/* Kernels since 6.0 no longer describe the signal trampoline in the AArch64 vdso. It is recognised
 * by its two instructions, mov x8, #139 (rt_sigreturn) and svc #0. Handlers return to its start,
 * which is looked up one byte before. */
static void find_trampolines(struct unwind_functions *f)
{
	static const uint8_t code[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 };
	static const struct unwind_rule trampoline = { .cfa = UNWIND_CFA_SIGNAL };
	struct span in;
	size_t i;

	if (f->machine != UNWIND_AARCH64 || f->top > TRAMPOLINE_IMAGE_MAX ||
	    !unwind_functions_bytes(f, f->base, &in))
		return;
	in.left = MIN(in.left, (size_t)f->top);
	for (i = 0; i + sizeof(code) <= in.left; i += 4) {
		uint64_t before = i ? 4 : 0;

		if (memcmp(in.at + i, code, sizeof(code)) == 0)
			add_bare(f, f->base + i - before, before + sizeof(code), &trampoline);
	}
}

static int compare_functions(const void *a, const void *b)
{
	const struct unwind_function *x = a, *y = b;

	if (x->start != y->start)
		return (x->start > y->start) - (x->start < y->start);
	if (x->source != y->source)
		return (x->source > y->source) - (x->source < y->source);
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Sorts the functions; of those with the same start the first is kept. */
static void sort_functions(struct unwind_functions *f)
{
	struct unwind_function *all = f->all;
	size_t i, n = 0;

	for (i = 1; i < f->count; i++)
		if (all[i - 1].start > all[i].start)
			break;
	if (i < f->count)
		qsort(all, f->count, sizeof(*all), compare_functions);
	for (i = 0; i < f->count; i++)
		if (!n || all[n - 1].start != all[i].start)
			all[n++] = all[i];
	f->count = n;
}

static bool read_go_function(const struct unwind_functions *f,
			     const struct unwind_function *function, struct cfi_fde *ret)
{
	struct gosym_function fn;

	if (!gosym_at(f->go, function->offset, &fn))
		return false;
	*ret = (struct cfi_fde){ .start = fn.start, .end = fn.end };
	return true;
}

bool unwind_functions_read(struct unwind_functions *f, size_t i, struct cfi_fde *ret,
			   const struct unwind_rule **ret_rule)
{
	const struct unwind_function *function = &f->all[i];
	struct cfi *cfi = section_of(f, function->source);
	size_t next;

	*ret_rule = NULL;
	if (function->source == UNWIND_SOURCE_NONE) {
		*ret_rule = f->bare[function->offset].rule;
		ret->end = f->bare[function->offset].end;
		return true;
	}
	if (function->source == UNWIND_SOURCE_GO)
		return read_go_function(f, function, ret);
	return function->offset < cfi->bytes.left &&
	       cfi_read(cfi, function->offset, ret, &next) == 1 && ret->start == function->start &&
	       ret->end > ret->start;
}

bool unwind_functions_end(struct unwind_functions *f, uint64_t address, uint64_t *ret)
{
	size_t next = FIRST_NOT(i, 0, f->count, f->all[i].start <= address);
	const struct unwind_rule *rule;
	struct cfi_fde fde;

	if (next && unwind_functions_read(f, next - 1, &fde, &rule) && fde.end > address) {
		*ret = fde.end;
		return true;
	}
	*ret = next < f->count ? f->all[next].start : UINT64_MAX;
	return false;
}

/* Adds up to @bytes of code at @start, to which @rule applies, unless a function is described
 * there. The functions are sorted, and stay so. */
static void add_missing(struct unwind_functions *f, uint64_t start, uint64_t bytes,
			const struct unwind_rule *rule)
{
	size_t i = FIRST_NOT(k, 0, f->count, f->all[k].start <= start), n = f->count;
	struct unwind_function added;
	uint64_t end;

	if (unwind_functions_end(f, start, &end))
		return;
	add_bare(f, start, MIN(bytes, end - start), rule);
	if (f->count == n)
		return;
	added = f->all[n];
	memmove(f->all + i + 1, f->all + i, (n - i) * sizeof(*f->all));
	f->all[i] = added;
}

static void add_plt(struct unwind_functions *f, const char *name)
{
	const struct plt_part *part;
	struct elf_section s;
	const Elf_Data *data;
	uint64_t at, left;

	if (!elffile_find_section(f->ef, name, &s) || s.header.sh_addr & 15 ||
	    !(data = elffile_data(&s)) || !data->d_buf)
		return;
	at = s.header.sh_addr;
	left = data->d_size;
	part = plt_shape(f->machine, name, span_of(data->d_buf, data->d_size));
	for (; part && part->rule && left; part++) {
		uint64_t bytes = part->bytes ? MIN(part->bytes, left) : left;

		add_missing(f, at, bytes, part->rule);
		at += bytes;
		left -= bytes;
	}
}

/* Adds where a C library that describes no code calls what runs in a thread. */
static void add_exits(struct unwind_functions *f)
{
	uint64_t at = f->base, top = f->base + f->top, end, start, bytes, added = 0, next;
	size_t sorted = f->count, all = sorted;
	struct stack_exits exits;
	struct span code;

	if (!stack_exits_find(f->ef, f->machine, &exits))
		return;
	for (; at < top; at = end) {
		if (unwind_functions_end(f, at, &end) || !unwind_functions_bytes(f, at, &code))
			continue;
		end = MIN(end, top);
		code.left = MIN(code.left, (size_t)(end - at));
		while (stack_exits_next(&exits, &code, &at, &start, &bytes)) {
			if (start < added || unwind_functions_end(f, start, &next))
				continue;
			added = start + MIN(bytes, next - start);
			f->count = all; /* searched are those before */
			add_bare(f, start, added - start, &outermost);
			all = f->count;
			f->count = sorted;
		}
	}
	f->count = all;
	sort_functions(f);
}

/* Adds the functions of a Go program. */
static void read_go(struct unwind_functions *f)
{
	struct gosym_function fn;
	size_t i;

	f->go = gosym_new(f->ef);
	for (i = 0; f->go && i < gosym_count(f->go); i++) {
		const struct unwind_rule *rule = NULL;

		if (!gosym_at(f->go, i, &fn))
			continue;
		fn.start -= unwind_go_rule(f->machine, fn.name, &rule);
		if (rule)
			add_bare(f, fn.start, fn.end - fn.start, rule);
		else
			add_function(f, fn.start, i, UNWIND_SOURCE_GO);
	}
}

void unwind_functions_find(struct unwind_functions *f)
{
	const GElf_Ehdr *header = elffile_header(f->ef);
	size_t i;

	f->eh = new_section(f, false);
	f->debug = new_section(f, true);
	read_eh_frame(f);
	read_debug_frame(f);
	read_go(f);
	find_trampolines(f);
	sort_functions(f);
	if (!f->count)
		return;
	for (i = 0; plt_sections[i]; i++)
		add_plt(f, plt_sections[i]);
	add_exits(f);
	/* The dynamic loader's entry point has no description, and every chain in it ends there. */
	if (header->e_type == ET_DYN || header->e_type == ET_EXEC)
		add_missing(f, header->e_entry, ENTRY_BYTES, &outermost);
}

void unwind_functions_done(struct unwind_functions *f)
{
	free_section(f->eh);
	free_section(f->debug);
	gosym_free(f->go);
	free(f->all);
	free(f->bare);
}
