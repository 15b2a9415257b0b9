/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/unwind.h"

#include "base/mem.h"
#include "image/cfi_program.h"
#include "image/elffile.h"
#include "image/unwind_rows.h"

#include <dwarf.h>
#include <string.h>

enum {
	/* A hole between two functions that is no longer than this is padding, which nothing runs;
	 * it goes with the function before it. */
	PADDING_MAX = 15,
	/* Of an image that is searched for signal trampolines: the vdso is two pages. */
	TRAMPOLINE_IMAGE_MAX = 16384,
	/* Functions may share programs only as far as damage would: this many times the section. */
	PROGRAM_SHARE = 4,
	/* Bytes behind the entry point that belong to it, if nothing describes them. */
	ENTRY_BYTES = 256,
};

/* What compressed sections may grow to. */
static const uint64_t section_max = 1ULL << 28;

/* Where what is known of a function stands. Of two with one start, the first counts. */
enum source { SOURCE_EH, SOURCE_DEBUG, SOURCE_ENTRY, SOURCE_TRAMPOLINE };

/* Small, for there are many: FDEs are read when their rows are written. */
struct function {
	uint64_t start;	 /* linked address */
	uint32_t offset; /* of the FDE in its section; of others how many bytes there are */
	uint32_t source;
};

struct build {
	struct elffile *ef;
	struct unwind_table *table;
	struct cfi eh, debug;
	struct function *functions;
	size_t count, room;
	uint64_t top; /* end of executable PCs */
	struct unwind_rows rows;
	uint64_t limit; /* PC where the function that is written ends */
	size_t budget;	/* bytes of programs that may still be run */
};

static int find_segments(struct build *b, struct error *err)
{
	struct unwind_table *t = b->table;
	size_t i, count = 0;
	GElf_Phdr ph;

	if (elf_getphdrnum(elffile_elf(b->ef), &count) < 0)
		count = 0;
	for (i = 0; i < count && t->segment_count < UNWIND_SEGMENTS_MAX; i++) {
		if (!gelf_getphdr(elffile_elf(b->ef), (int)i, &ph))
			continue;
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) || !ph.p_filesz)
			continue;
		t->segments[t->segment_count++] =
			(struct unwind_segment){ ph.p_offset, ph.p_filesz, ph.p_vaddr };
	}
	if (!t->segment_count)
		return error_set(err, -ENODATA, "%s: no executable code", elffile_path(b->ef));
	t->base = UINT64_MAX;
	for (i = 0; i < t->segment_count; i++)
		t->base = MIN(t->base, t->segments[i].pc);
	for (i = 0; i < t->segment_count; i++) {
		struct unwind_segment *s = &t->segments[i];
		uint64_t end;

		s->pc -= t->base;
		if (__builtin_add_overflow(s->pc, s->size, &end) || end > 1ULL << 32)
			return error_set(err, -EBADMSG, "%s: code over more than 4 GiB",
					 elffile_path(b->ef));
		b->top = MAX(b->top, end);
	}
	t->page_count = (size_t)((b->top + 0xffff) >> UNWIND_PAGE_SHIFT);
	return 0;
}

static void add_function(struct build *b, uint64_t start, uint64_t offset, enum source source)
{
	uint64_t base = b->table->base;

	/* What the linker threw away starts at 0 or 1. */
	if (start < base || start - base >= b->top || offset > UINT32_MAX)
		return;
	array_grow(&b->functions, b->count + 1, &b->room);
	b->functions[b->count++] = (struct function){ start, (uint32_t)offset, source };
}

static struct cfi *section_of(struct build *b, enum source source)
{
	return source == SOURCE_DEBUG ? &b->debug : &b->eh;
}

/* Finds the functions of a section by reading it. */
static void walk(struct build *b, enum source source)
{
	struct cfi *cfi = section_of(b, source);
	size_t offset = 0, next;
	struct cfi_fde fde;
	int r;

	for (; offset < cfi->bytes.left; offset = next) {
		r = cfi_read(cfi, offset, &fde, &next);
		if (r < 0)
			b->table->bad_fde_count++;
		else if (r && fde.end > fde.start)
			add_function(b, fde.start, offset, source);
	}
}

/* The bytes of the file from the linked @address on, to the end of the file. */
static bool bytes_at(const struct build *b, uint64_t address, struct span *ret)
{
	size_t size = 0;
	const char *file = elf_rawfile(elffile_elf(b->ef), &size);
	uint64_t offset;

	if (!file || !elffile_offset(b->ef, address, &offset) || offset >= size)
		return false;
	*ret = span_of(file + offset, size - (size_t)offset);
	return true;
}

/* .eh_frame_hdr: where .eh_frame is, and all its FDEs sorted by start. */
struct index {
	uint64_t address;  /* of .eh_frame_hdr */
	uint64_t eh_frame; /* address of .eh_frame */
	struct span
		pairs; /* start, FDE: each 4 bytes relative to ->address; empty: no such table */
};

static bool find_index(const struct build *b, struct index *ret)
{
	size_t i, count = 0;
	struct span in = { NULL, 0 };
	const uint8_t *head;
	uint64_t entries;
	GElf_Phdr ph;

	if (elf_getphdrnum(elffile_elf(b->ef), &count) < 0)
		return false;
	for (i = 0; i < count; i++)
		if (gelf_getphdr(elffile_elf(b->ef), (int)i, &ph) && ph.p_type == PT_GNU_EH_FRAME)
			break;
	if (i == count || !bytes_at(b, ph.p_vaddr, &in))
		return false;
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

/* Whether the index has at @i what is in the section. */
static bool index_is_true(struct build *b, const struct index *index, size_t i)
{
	const uint8_t *pair = index->pairs.at + i * 8;
	uint64_t start = index->address + (uint64_t)(int64_t)(int32_t)get_le32(pair);
	uint64_t at = index->address + (uint64_t)(int64_t)(int32_t)get_le32(pair + 4);
	struct cfi_fde fde;
	size_t next;

	return at - b->eh.address < b->eh.bytes.left &&
	       cfi_read(&b->eh, (size_t)(at - b->eh.address), &fde, &next) == 1 &&
	       fde.start == start;
}

/* Finds the functions by the index; false if that is none of this section: nothing is found then.
 */
static bool read_indexed(struct build *b, const struct index *index)
{
	size_t i, entries = index->pairs.left / 8;
	struct span in = index->pairs;
	uint64_t last = 0;
	uint32_t start, fde;

	if (!entries || !index_is_true(b, index, 0) || !index_is_true(b, index, entries / 2) ||
	    !index_is_true(b, index, entries - 1))
		return false;
	for (i = 0; i < entries && span_u32(&in, &start) == 0 && span_u32(&in, &fde) == 0; i++) {
		uint64_t at = index->address + (uint64_t)(int64_t)(int32_t)start;
		uint64_t offset = index->address + (uint64_t)(int64_t)(int32_t)fde - b->eh.address;

		if (at < last) {
			b->count = 0;
			return false;
		}
		add_function(b, at, offset, SOURCE_EH);
		last = at;
	}
	return true;
}

static void read_eh_frame(struct build *b)
{
	struct index index;
	bool indexed = find_index(b, &index);
	struct elf_section s;
	const Elf_Data *data;

	if (elffile_find_section(b->ef, ".eh_frame", &s) && (data = elffile_data(&s))) {
		b->eh.bytes = span_of(data->d_buf, data->d_size);
		b->eh.address = s.header.sh_addr;
	} else if (indexed && bytes_at(b, index.eh_frame, &b->eh.bytes)) {
		b->eh.address = index.eh_frame;
	} else {
		return;
	}
	b->table->cfi_bytes = b->eh.bytes.left;
	if (!indexed || !read_indexed(b, &index))
		walk(b, SOURCE_EH);
}

/* The bytes of .debug_frame, however it is compressed. */
static const Elf_Data *debug_frame(struct build *b)
{
	struct elf_section s;
	GElf_Chdr compression;

	if (elffile_find_section(b->ef, ".debug_frame", &s)) {
		if (!(s.header.sh_flags & SHF_COMPRESSED))
			return elffile_data(&s);
		if (!gelf_getchdr(s.scn, &compression) || compression.ch_size > section_max ||
		    elf_compress(s.scn, 0, 0) < 0)
			return NULL;
	} else if (elffile_find_section(b->ef, ".zdebug_frame", &s)) {
		/* Its length stands in the section; more than that libelf does not unpack. */
		const Elf_Data *raw = elffile_data(&s);

		if (!raw || raw->d_size < 12 ||
		    get_be64((const uint8_t *)raw->d_buf + 4) > section_max ||
		    elf_compress_gnu(s.scn, 0, 0) < 0)
			return NULL;
	} else {
		return NULL;
	}
	return elffile_section(b->ef, s.index, &s) ? elffile_data(&s) : NULL;
}

/* Code that .eh_frame leaves out may be described here: what was compiled without unwind tables but
 * with debug information. */
static void read_debug_frame(struct build *b)
{
	const Elf_Data *data = debug_frame(b);

	if (!data)
		return;
	b->debug.bytes = span_of(data->d_buf, data->d_size);
	b->table->cfi_bytes += data->d_size;
	walk(b, SOURCE_DEBUG);
}

/* Kernels since 6.0 describe the AArch64 vdso's signal trampoline no longer: it is known by its two
 * instructions, mov x8, #139 (rt_sigreturn) and svc #0. Handlers return to its start, which is
 * looked up one byte before. */
static void find_trampolines(struct build *b)
{
	const struct unwind_table *t = b->table;
	static const uint8_t code[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 };
	struct span in;
	size_t i;

	if (t->machine != UNWIND_AARCH64 || b->top > TRAMPOLINE_IMAGE_MAX ||
	    !bytes_at(b, t->base, &in))
		return;
	in.left = MIN(in.left, (size_t)b->top);
	for (i = 0; i + sizeof(code) <= in.left; i += 4) {
		uint64_t before = i ? 4 : 0;

		if (memcmp(in.at + i, code, sizeof(code)) == 0)
			add_function(b, t->base + i - before, before + sizeof(code),
				     SOURCE_TRAMPOLINE);
	}
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return (x->start > y->start) - (x->start < y->start);
	if (x->source != y->source)
		return (x->source > y->source) - (x->source < y->source);
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Sorts the functions; of those with one start the first stays. */
static void sort_functions(struct build *b)
{
	struct function *f = b->functions;
	size_t i, n = 0;

	for (i = 1; i < b->count; i++)
		if (f[i - 1].start > f[i].start)
			break;
	if (i < b->count)
		qsort(f, b->count, sizeof(*f), compare_functions);
	for (i = 0; i < b->count; i++)
		if (!n || f[n - 1].start != f[i].start)
			f[n++] = f[i];
	b->count = n;
}

/* Reads what is known of a function: its end in ->end, and the rule that holds for all of it, or an
 * FDE. False if the FDE is not what it should be. */
static bool read_function(struct build *b, const struct function *f, struct cfi_fde *ret,
			  const struct unwind_rule **ret_rule)
{
	static const struct unwind_rule outermost = { .cfa = UNWIND_CFA_END };
	static const struct unwind_rule trampoline = { .cfa = UNWIND_CFA_SIGNAL };
	struct cfi *cfi;
	size_t next;

	*ret_rule = f->source == SOURCE_ENTRY	     ? &outermost
		    : f->source == SOURCE_TRAMPOLINE ? &trampoline
						     : NULL;
	if (*ret_rule) {
		ret->end = f->start + f->offset;
		return true;
	}
	cfi = section_of(b, f->source);
	return f->offset < cfi->bytes.left && cfi_read(cfi, f->offset, ret, &next) == 1 &&
	       ret->start == f->start && ret->end > ret->start;
}

/* The dynamic loader's entry is described by nothing, and is where every chain of its own ends. */
static void add_entry(struct build *b)
{
	uint64_t entry = elffile_header(b->ef)->e_entry, end = entry + ENTRY_BYTES;
	const struct unwind_rule *rule;
	struct cfi_fde fde;
	size_t i = 0, n = b->count;

	/* The first function behind it. */
	while (n) {
		if (b->functions[i + n / 2].start <= entry) {
			i += n / 2 + 1;
			n -= n / 2 + 1;
		} else {
			n /= 2;
		}
	}
	if (i && read_function(b, &b->functions[i - 1], &fde, &rule) && fde.end > entry)
		return;
	if (i < b->count)
		end = MIN(end, b->functions[i].start);
	n = b->count;
	add_function(b, entry, end - entry, SOURCE_ENTRY);
	if (b->count == n)
		return;
	memmove(b->functions + i + 1, b->functions + i, (n - i) * sizeof(*b->functions));
	b->functions[i] = (struct function){ entry, (uint32_t)(end - entry), SOURCE_ENTRY };
}

static void put_row(void *data, uint64_t address, struct unwind_rule rule)
{
	struct build *b = data;
	uint64_t pc = address - b->table->base;

	if (pc < b->limit)
		unwind_rows_put(&b->rows, pc, rule);
}

/* Runs the FDE's program; where that makes no sense nothing is known of the function. */
static void write_function(struct build *b, const struct cfi_fde *fde)
{
	static const struct unwind_rule damaged = { .base = UNWIND_WHY_DAMAGED };
	struct unwind_rows_mark mark = unwind_rows_mark(&b->rows);

	b->table->fde_count++;
	if (fde->program.left <= b->budget &&
	    cfi_program_run(fde, b->table->machine, put_row, b) == 0) {
		b->budget -= fde->program.left;
		return;
	}
	b->budget -= MIN(b->budget, fde->program.left);
	b->table->bad_fde_count++;
	unwind_rows_rewind(&b->rows, &mark);
	put_row(b, fde->start, damaged);
}

static void write_rows(struct build *b, struct unwind_rules *rules)
{
	static const struct unwind_rule none = { .cfa = UNWIND_CFA_NONE };
	struct unwind_table *t = b->table;
	const struct unwind_rule *rule;
	struct cfi_fde fde = { 0 };
	uint64_t end = 0; /* PC where the last function ends */
	size_t i;

	b->budget = t->cfi_bytes * PROGRAM_SHARE;
	unwind_rows_init(&b->rows, rules, t->page_count);
	for (i = 0; i < b->count; i++) {
		uint64_t start = b->functions[i].start - t->base;

		if (!read_function(b, &b->functions[i], &fde, &rule)) {
			t->bad_fde_count++;
			continue;
		}
		if (start > end && start - end > PADDING_MAX)
			unwind_rows_put(&b->rows, end, none);
		b->limit = MIN(fde.end - t->base, b->top);
		if (i + 1 < b->count)
			b->limit = MIN(b->limit, b->functions[i + 1].start - t->base);
		if (rule)
			put_row(b, b->functions[i].start, *rule);
		else
			write_function(b, &fde);
		end = b->limit;
	}
	if (end < b->top)
		unwind_rows_put(&b->rows, end, none);
	unwind_rows_finish(&b->rows);
	t->pages = b->rows.pages;
	t->rows = b->rows.rows;
	t->row_count = b->rows.count;
}

static int build_table(struct build *b, struct unwind_rules *rules, struct error *err)
{
	struct unwind_table *t = b->table;
	const GElf_Ehdr *header = elffile_header(b->ef);
	int r;

	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    (header->e_machine != EM_X86_64 && header->e_machine != EM_AARCH64))
		return error_set(err, -ENOTSUP, "%s: neither x86-64 nor AArch64",
				 elffile_path(b->ef));
	t->machine = header->e_machine == EM_X86_64 ? UNWIND_X86_64 : UNWIND_AARCH64;
	b->eh.machine = b->debug.machine = t->machine;
	b->debug.debug = true;
	r = find_segments(b, err);
	if (r < 0)
		return r;
	read_eh_frame(b);
	read_debug_frame(b);
	find_trampolines(b);
	if (!b->count)
		return error_set(err, t->bad_fde_count ? -EBADMSG : -ENODATA,
				 "%s: no unwind information", elffile_path(b->ef));
	sort_functions(b);
	if (header->e_type == ET_DYN || header->e_type == ET_EXEC)
		add_entry(b);
	write_rows(b, rules);
	return 0;
}

int unwind_table_build(struct elffile *ef, struct unwind_rules *rules, struct unwind_table **ret,
		       struct error *err)
{
	struct build b = { .ef = ef, .table = xcalloc(1, sizeof(*b.table)) };
	int r = build_table(&b, rules, err);

	cfi_done(&b.eh);
	cfi_done(&b.debug);
	free(b.functions);
	if (r < 0)
		unwind_table_free(b.table);
	else
		*ret = b.table;
	return r;
}

void unwind_table_free(struct unwind_table *table)
{
	if (!table)
		return;
	free(table->pages);
	free(table->rows);
	free(table);
}

size_t unwind_table_bytes(const struct unwind_table *table)
{
	return (table->page_count + 1) * sizeof(*table->pages) +
	       table->row_count * sizeof(*table->rows);
}

bool unwind_table_pc(const struct unwind_table *table, uint64_t offset, uint64_t *ret)
{
	size_t i;

	for (i = 0; i < table->segment_count; i++) {
		const struct unwind_segment *s = &table->segments[i];

		if (offset >= s->offset && offset - s->offset < s->size) {
			*ret = offset - s->offset + s->pc;
			return true;
		}
	}
	return false;
}

uint16_t unwind_table_find(const struct unwind_table *table, uint64_t pc)
{
	uint64_t page = pc >> UNWIND_PAGE_SHIFT;
	uint16_t low = (uint16_t)pc;
	const struct unwind_row *row;
	size_t n;

	if (page >= table->page_count)
		return 0;
	row = table->rows + table->pages[page];
	/* Without branches that depend on the rows: they would be mispredicted half of the time. */
	for (n = table->pages[page + 1] - table->pages[page]; n > 1; n -= n / 2)
		row += row[n / 2].pc <= low ? n / 2 : 0;
	return row->rule;
}
