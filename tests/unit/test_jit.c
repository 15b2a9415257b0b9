/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/strbuf.h"
#include "symbol/elfsym.h"
#include "jit/jit.h"
#include "elfwrite/jit_elf.h"
#include "jit/jit_source.h"
#include "unwind/unwind_code.h"
#include "dwarf/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void load(struct jit *j, uint64_t address, uint64_t size, uint64_t from, const char *name)
{
	jit_load(j, &(struct jit_code){
			    .address = address, .size = size, .from = from, .name = name });
}

static const char *name_at(const struct jit *j, uint64_t pc, uint64_t time)
{
	const struct jit_code *c = jit_find(j, pc, time);

	return c ? c->name : "none";
}

static void code_is_found_by_address(void)
{
	_cleanup_(jit_freep) struct jit *j = jit_new();

	load(j, 0x2000, 0x10, 0, "two");
	load(j, 0x1000, 0x10, 0, "one");
	CHECK_STR(name_at(j, 0x1000, 5), "one");
	CHECK_STR(name_at(j, 0x100f, 5), "one");
	CHECK_STR(name_at(j, 0x1010, 5), "none");
	CHECK_STR(name_at(j, 0x200f, 5), "two");
	CHECK_STR(name_at(j, 0xfff, 5), "none");
}

static void code_over_code_is_distinguished_by_time(void)
{
	_cleanup_(jit_freep) struct jit *j = jit_new();

	load(j, 0x1000, 0x100, 10, "first");
	load(j, 0x1080, 0x100, 20, "second");
	load(j, 0x1000, 0x200, 30, "third");
	CHECK_STR(name_at(j, 0x1090, 9), "none");
	CHECK_STR(name_at(j, 0x1090, 10), "first");
	CHECK_STR(name_at(j, 0x1090, 19), "first");
	CHECK_STR(name_at(j, 0x1090, 20), "second");
	CHECK_STR(name_at(j, 0x1010, 25), "none"); /* the first ended as a whole */
	CHECK_STR(name_at(j, 0x1090, 29), "second");
	CHECK_STR(name_at(j, 0x1090, 30), "third");
	CHECK_EQ(jit_at(j, 0)->place, 0x1000);
	CHECK_EQ(jit_at(j, 1)->place, JIT_PLACE_START);
	CHECK_EQ(jit_at(j, 2)->place, JIT_PLACE_START + 0x100);
}

static void code_moves_and_goes(void)
{
	static const struct jit_line lines[] = { { 0x1000, 7, "a.js" }, { 0x1008, 8, "a.js" } };
	_cleanup_(jit_freep) struct jit *j = jit_new();
	const struct jit_code *c;

	jit_load(j, &(struct jit_code){ .address = 0x1000,
					.size = 0x20,
					.from = 1,
					.name = "f",
					.lines = lines,
					.line_count = 2 });
	jit_move(j, 0x1000, 0x5000, 10);
	jit_move(j, 0x9999, 0x6000, 10);
	CHECK_STR(name_at(j, 0x1000, 9), "f");
	CHECK_STR(name_at(j, 0x1000, 10), "none");
	c = jit_find(j, 0x5010, 10);
	if (!CHECK(c))
		return;
	CHECK_EQ(c->line_count, 2);
	CHECK_EQ(c->lines[1].address, 0x5008);
	CHECK_STR(c->lines[1].file, "a.js");
	jit_unload(j, 0x5000, 20);
	CHECK_STR(name_at(j, 0x5000, 20), "none");
	CHECK_STR(name_at(j, 0x5000, 19), "f");
}

static void the_same_code_again_changes_nothing(void)
{
	_cleanup_(jit_freep) struct jit *j = jit_new();

	load(j, 0x1000, 0x10, 1, "f");
	load(j, 0x1000, 0x10, 2, "f");
	CHECK_EQ(jit_count(j), 1);
	CHECK_STR(name_at(j, 0x1000, 1), "f");
}

static void impossible_code_is_counted(void)
{
	_cleanup_(jit_freep) struct jit *j = jit_new();

	load(j, 0x1000, 0, 1, "empty");
	load(j, UINT64_MAX - 4, 100, 1, "wraps");
	load(j, JIT_PLACE_START, 16, 1, "where_no_code_can_be");
	load(j, 0x1000, (uint64_t)JIT_SIZE_MAX + 1, 1, "huge");
	CHECK_EQ(jit_count(j), 0);
	CHECK_EQ(jit_dropped(j), 4);
}

/* One after the other, in any order that a compiler, or a hostile process, may choose. */
static void a_million_pieces_in_any_order_take_no_longer(void)
{
	static const struct {
		uint64_t first, step;
	} orders[] = { { 0, 1 }, { 999999, 999999 }, { 0, 611953 } };
	enum { MILLION = 1000000 };
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		_cleanup_(jit_freep) struct jit *j = jit_new();
		uint64_t at = orders[i].first;

		for (k = 0; k < MILLION; k++, at = (at + orders[i].step) % MILLION)
			load(j, 0x1000 + at * 16, 16, 1, at % 2 ? "odd" : "even");
		CHECK_EQ(jit_count(j) + jit_dropped(j), MILLION);
		CHECK(jit_count(j) > MILLION / 3);
		CHECK(jit_bytes(j) < JIT_BYTES_MAX + (1 << 17));
		for (k = 0; k < jit_count(j); k += 999) {
			const struct jit_code *c = jit_at(j, k);

			CHECK(jit_find(j, c->address + 15, 2) == c);
		}
		/* Code over all of it ends it. */
		load(j, 0x1000, JIT_SIZE_MAX, 3, "x");
		CHECK(jit_count(j) < MILLION);
	}
}

static void names_and_lines_count_in_the_limit(void)
{
	_cleanup_free_ char *name = xcalloc(1, (1 << 20) + 1);
	struct jit_line lines[2] = { { 0x1000, 7, name }, { 0x1008, 8, "b.js" } };
	_cleanup_(jit_freep) struct jit *j = jit_new();
	uint64_t at;

	memset(name, 'f', 1 << 20);
	for (at = 0; at < 100; at++)
		jit_load(j, &(struct jit_code){ .address = at * 16,
						.size = 16,
						.name = at < 10 ? name : "short",
						.lines = lines,
						.line_count = 2 });
	/* Lines are left out first. */
	CHECK_EQ(jit_count(j), 100);
	CHECK_EQ(jit_at(j, 5)->line_count, 2);
	CHECK_EQ(jit_at(j, 99)->line_count, 0);
	CHECK(jit_bytes(j) < JIT_DETAIL_MAX + (1 << 17));
	for (at = 100; at < 200; at++)
		load(j, at * 16, 16, 1, name);
	CHECK(jit_bytes(j) < JIT_BYTES_MAX + (1 << 17));
	CHECK(jit_dropped(j) > 50);
	load(j, 0x10000, 16, 1, "small");
	CHECK_STR(name_at(j, 0x10000, 2), "small");
}

/* A source over the bytes given; the file can grow through *ret_fd. */
static struct jit_source *source_of(const void *bytes, size_t size, int *ret_fd)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "source");

	*ret_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK_EQ(write(*ret_fd, bytes, size), size);
	return jit_source_new(open(path, O_RDONLY | O_CLOEXEC), "source");
}

static void a_perf_map_is_read_as_it_grows(void)
{
	static const char text[] = "1000 20 js:one two\nnonsense\n0x2000 0x10 LazyCompile:~f a.js\n"
				   "4000 10 void A$$Lambda$2/0x00007f2748001870.run()\n"
				   "5000 10 a/0x1f/b.js\n3000 1";
	_cleanup_(jit_freep) struct jit *j = jit_new();
	_cleanup_close_ int fd = -1;
	_cleanup_(jit_source_freep) struct jit_source *s = source_of(text, strlen(text), &fd);

	CHECK(jit_source_read(s, j, 100, NULL) > 0);
	CHECK_EQ(jit_count(j), 4);
	CHECK_STR(name_at(j, 0x101f, 0), "js:one two");
	CHECK_STR(name_at(j, 0x4000, 100), "void A$$Lambda$2.run()");
	CHECK_STR(name_at(j, 0x5000, 100), "a/0x1f/b.js");
	CHECK_STR(name_at(j, 0x2000, 100), "LazyCompile:~f a.js");
	CHECK_EQ(write(fd, "0 three\n", 8), 8);
	CHECK(jit_source_read(s, j, 200, NULL) > 0);
	CHECK_STR(name_at(j, 0x3000, 99), "three"); /* nothing else was ever there */
	CHECK_EQ(write(fd, "3000 8 four\n", 12), 12);
	CHECK(jit_source_read(s, j, 300, NULL) > 0);
	CHECK_STR(name_at(j, 0x3000, 199), "three");
	CHECK_STR(name_at(j, 0x3000, 200), "four");
	CHECK(!jit_source_timed(s));
}

static void add_u32(struct strbuf *b, uint32_t v)
{
	strbuf_add(b, &v, sizeof(v));
}

static void add_u64(struct strbuf *b, uint64_t v)
{
	strbuf_add(b, &v, sizeof(v));
}

static void add_dump_header(struct strbuf *b, uint64_t flags)
{
	static const uint32_t fields[] = { JIT_DUMP_MAGIC, 1, 40, 62, 0, 7 };

	strbuf_add(b, fields, sizeof(fields));
	add_u64(b, 1000);
	add_u64(b, flags);
}

static void add_record(struct strbuf *b, uint32_t id, uint64_t time, const struct strbuf *payload)
{
	add_u32(b, id);
	add_u32(b, (uint32_t)(16 + payload->length));
	add_u64(b, time);
	strbuf_add(b, payload->text, payload->length);
}

static void add_load(struct strbuf *b, uint64_t time, uint64_t address, const char *code,
		     const char *name)
{
	_cleanup_(strbuf_done) struct strbuf p = STRBUF_INIT;

	add_u64(&p, 7 | (uint64_t)7 << 32);
	add_u64(&p, address);
	add_u64(&p, address);
	add_u64(&p, strlen(code));
	add_u64(&p, 1);
	strbuf_add(&p, name, strlen(name) + 1);
	strbuf_adds(&p, code);
	add_record(b, JIT_DUMP_LOAD, time, &p);
}

static void add_lines(struct strbuf *b, uint64_t time, uint64_t address)
{
	_cleanup_(strbuf_done) struct strbuf p = STRBUF_INIT;

	add_u64(&p, address);
	add_u64(&p, 3);
	add_u64(&p, address);
	add_u32(&p, 11);
	add_u32(&p, 0);
	strbuf_add(&p, "/src/a.js", 10);
	add_u64(&p, address + 2);
	add_u32(&p, 12);
	add_u32(&p, 0);
	strbuf_add(&p, "\xff", 2);
	add_u64(&p, address + 3);
	add_u32(&p, 0);
	add_u32(&p, 0);
	strbuf_add(&p, "", 1); /* code of no file, as V8 writes it */
	add_record(b, JIT_DUMP_DEBUG_INFO, time, &p);
}

/* What CPython writes about its trampolines: sub $8, %rsp; call *%rcx; add $8, %rsp; ret. */
static const uint8_t trampoline_cfi[] = {
	20,   0,    0,	  0,	0,    0, 0, 0, 1,  'z',	 'R',  0,  1,	 0x78, 16, 1,
	0x1b, 12,   7,	  8,	0x90, 1, 0, 0, 20, 0,	 0,    0,  28,	 0,    0,  0,
	0xd0, 0xff, 0xff, 0xff, 11,   0, 0, 0, 0,  0x44, 0x0e, 16, 0x46, 0x0e, 8,  0,
};

/* How to unwind the code of the next record; the .eh_frame is followed by @padding more bytes and
 * by an index, here of 4 bytes. */
static void add_unwinding(struct strbuf *b, uint64_t time, size_t padding)
{
	_cleanup_(strbuf_done) struct strbuf p = STRBUF_INIT;

	add_u64(&p, sizeof(trampoline_cfi) + padding + 4);
	add_u64(&p, 4);
	add_u64(&p, 4096);
	strbuf_add(&p, trampoline_cfi, sizeof(trampoline_cfi));
	for (; padding; padding--)
		strbuf_add(&p, "", 1);
	add_u32(&p, 0);
	add_record(b, JIT_DUMP_UNWINDING_INFO, time, &p);
}

/* A dump with two functions that lie at one address in turn. */
static void make_dump(struct strbuf *b, uint64_t flags)
{
	_cleanup_(strbuf_done) struct strbuf p = STRBUF_INIT;

	add_dump_header(b, flags);
	add_unwinding(b, 1900, 0);
	add_lines(b, 2000, 0x1000);
	add_load(b, 2000, 0x1000, "\x90\x90\x90\xc3", "first");
	add_load(b, 3000, 0x1000, "\x55\x5d\xc3", "second");
	add_u64(&p, 7 | (uint64_t)7 << 32);
	add_u64(&p, 0x1000);
	add_u64(&p, 0x1000);
	add_u64(&p, 0x8000);
	add_u64(&p, 3);
	add_u64(&p, 2);
	add_record(b, JIT_DUMP_MOVE, 4000, &p);
	/* Nothing of these is needed: damaged unwinding, the writer's end, what comes later. */
	add_record(b, JIT_DUMP_UNWINDING_INFO, 4100, &p);
	add_record(b, JIT_DUMP_CLOSE, 4200, &p);
	add_record(b, 77, 4500, &p);
	strbuf_clear(&p);
	add_u64(&p, 0x8000);
	add_record(b, JIT_DUMP_UNLOAD, 5000, &p);
}

static void a_jitdump_has_times_lines_and_code(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(jit_freep) struct jit *j = jit_new();
	_cleanup_(jit_source_freep) struct jit_source *s = NULL;
	_cleanup_close_ int fd = -1;

	make_dump(&b, 0);
	s = source_of(b.text, b.length, &fd);
	CHECK_EQ(jit_source_read(s, j, 100, NULL), b.length);
	CHECK(jit_source_timed(s));
	CHECK_EQ(jit_source_time(s), 5000);
	CHECK_EQ(jit_count(j), 3);
	CHECK_STR(name_at(j, 0x1001, 2500), "first");
	CHECK_STR(name_at(j, 0x1001, 3500), "second");
	CHECK_STR(name_at(j, 0x1001, 4000), "none");
	CHECK_STR(name_at(j, 0x8001, 4000), "second");
	CHECK_STR(name_at(j, 0x8001, 5000), "none");
	CHECK_EQ(jit_at(j, 0)->line_count, 3);
	CHECK_EQ(jit_at(j, 0)->lines[1].line, 12);
	CHECK_STR(jit_at(j, 0)->lines[1].file, "/src/a.js");
	CHECK_EQ(jit_at(j, 1)->line_count, 0);
	CHECK_EQ(jit_at(j, 1)->bytes[0], 0x55);
}

static void code_knows_how_to_unwind_it(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(jit_freep) struct jit *j = jit_new();
	_cleanup_(jit_source_freep) struct jit_source *s = NULL;
	_cleanup_close_ int fd = -1;
	const struct jit_code *c;

	add_dump_header(&b, 0);
	add_unwinding(&b, 1000, 0);
	add_lines(&b, 2000, 0x1000);
	add_load(&b, 2000, 0x1000, "\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3", "trampoline");
	add_load(&b, 2000, 0x2000, "\xc3", "without");
	add_unwinding(&b, 2000, 1 << 20);
	add_load(&b, 2000, 0x3000, "\xc3", "with too much");
	s = source_of(b.text, b.length, &fd);
	CHECK_EQ(jit_source_read(s, j, 100, NULL), b.length);
	if (!CHECK(jit_count(j) == 3))
		return;
	c = jit_at(j, 0);
	CHECK_EQ(c->line_count, 3);
	if (!CHECK(c->row_count == 3))
		return;
	CHECK_EQ(c->rows[0].offset, 0);
	CHECK_EQ(c->rows[0].rule.cfa_offset, 8);
	CHECK_EQ(c->rows[1].offset, 4);
	CHECK_EQ(c->rows[1].rule.cfa_offset, 16);
	CHECK_EQ(c->rows[2].offset, 10);
	CHECK_EQ(c->rows[2].rule.cfa_offset, 8);
	CHECK_EQ(jit_at(j, 1)->row_count, 0);
	CHECK_EQ(jit_at(j, 2)->row_count, 0);
	/* It moves with its code. */
	jit_move(j, 0x1000, 0x5000, 3000);
	c = jit_find(j, 0x5000, 3000);
	CHECK(c && c->row_count == 3 && c->rows[2].offset == 10);
}

/* Wherever a dump is cut: what is whole is there, the rest comes when the file has grown. */
static void a_dump_cut_anywhere_goes_on(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	size_t cut;

	make_dump(&b, 0);
	for (cut = 0; cut < b.length; cut++) {
		_cleanup_(jit_freep) struct jit *j = jit_new();
		_cleanup_(jit_source_freep) struct jit_source *s = NULL;
		_cleanup_close_ int fd = -1;

		s = source_of(b.text, cut, &fd);
		CHECK_EQ(jit_source_read(s, j, 100, NULL), cut);
		CHECK_EQ(write(fd, b.text + cut, b.length - cut), b.length - cut);
		CHECK_EQ(jit_source_read(s, j, 200, NULL), b.length - cut);
		CHECK_EQ(jit_count(j), 3);
		CHECK(jit_at(j, 0)->row_count > 0);
		CHECK_EQ(jit_at(j, 0)->line_count, 3);
	}
}

static void a_damaged_dump_is_named(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(jit_freep) struct jit *j = jit_new();
	_cleanup_(jit_source_freep) struct jit_source *s = NULL;
	_cleanup_close_ int fd = -1;
	struct error err = ERROR_INIT;

	add_dump_header(&b, 0);
	add_load(&b, 2000, 0x1000, "\xc3", "whole");
	add_u32(&b, JIT_DUMP_LOAD);
	add_u32(&b, 8); /* less than its own header */
	add_u64(&b, 3000);
	s = source_of(b.text, b.length, &fd);
	CHECK_EQ(jit_source_read(s, j, 100, &err), -EBADMSG);
	CHECK(strstr(err.text, "source: record with an impossible size"));
	CHECK_STR(name_at(j, 0x1000, 2000), "whole");
	CHECK_EQ(jit_source_read(s, j, 200, &err), -EBADMSG);
}

static void times_in_cycles_are_not_believed(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(jit_freep) struct jit *j = jit_new();
	_cleanup_(jit_source_freep) struct jit_source *s = NULL;
	_cleanup_close_ int fd = -1;

	make_dump(&b, 1);
	s = source_of(b.text, b.length, &fd);
	CHECK_EQ(jit_source_read(s, j, 100, NULL), b.length);
	CHECK(!jit_source_timed(s));
}

/* The dump of the original's agent, by the description of its records. */
static void the_dump_of_the_originals_agent_is_read(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT, p = STRBUF_INIT;
	_cleanup_(jit_freep) struct jit *j = jit_new();
	_cleanup_(jit_source_freep) struct jit_source *s = NULL;
	_cleanup_close_ int fd = -1;
	static const uint32_t header[] = { JIT_OPAGENT_MAGIC, 1, 0x30, 8, 8, 0 };

	strbuf_add(&b, header, sizeof(header));
	add_u64(&b, 1700000000);
	strbuf_add(&b, "elf64-x86-64\0\0\0\0", 16);
	add_u64(&p, 0x7000);
	add_u64(&p, 0x100);
	add_u32(&p, 1);
	add_u32(&p, 0);
	strbuf_add(&p, "LMain;f()V\0\xc3-ope", 16);
	add_record(&b, 0, 1700000001, &p);
	s = source_of(b.text, b.length, &fd);
	CHECK_EQ(jit_source_read(s, j, 100, NULL), b.length);
	CHECK_STR(name_at(j, 0x7000, 1), "void Main.f()");
	CHECK_EQ(jit_at(j, 0)->bytes[0], 0xc3);
}

static void check_symbol(const struct symtab *st, uint64_t address, const char *name)
{
	const struct symbol *sym = symtab_find(st, address);

	if (CHECK(sym))
		CHECK_STR(sym->name, name);
}

static void check_line(const struct elffile *ef, uint64_t address, unsigned int line)
{
	_cleanup_(lines_freep) struct lines *l = lines_new(ef, NULL);
	struct lines_place at = { 0 };

	CHECK(lines_find(l, address, &at));
	CHECK_EQ(at.line, line);
	CHECK_STR(at.file, "/src/a.js");
}

static void the_elf_file_has_symbols_code_and_lines(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "7.jo");
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(jit_freep) struct jit *j = jit_new();
	_cleanup_(jit_elf_freep) struct jit_elf *elf = NULL;
	_cleanup_(jit_source_freep) struct jit_source *s = NULL;
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	_cleanup_close_ int fd = -1;
	struct elffile *ef;
	struct elf_section text;
	struct error err = ERROR_INIT;

	make_dump(&b, 0);
	s = source_of(b.text, b.length, &fd);
	CHECK_EQ(jit_source_read(s, j, 100, NULL), b.length);
	load(j, 0x100000, 64, 1, "far_away");
	elf = jit_elf_new(j);
	load(j, 0x200000, 64, 1, "too_late");
	CHECK_EQ(jit_elf_write(elf, path, &err), 0);
	if (!CHECK(elffile_open(path, &ef, &err) == 0)) {
		printf("# %s\n", err.text);
		return;
	}
	symtab_hold(st, ef, elfsym_release);
	CHECK_EQ(elfsym_load_region(ef, 0x800, st), 4);
	symtab_settle(st);
	check_symbol(st, 0x1000 - 0x800, "first");
	check_symbol(st, 0x8000 - 0x800, "second");
	check_symbol(st, JIT_PLACE_START - 0x800, "second");
	check_symbol(st, 0x100000 - 0x800, "far_away");
	CHECK(elffile_find_section(ef, ".text", &text));
	CHECK_EQ(text.header.sh_addr, 0x1000);
	check_line(ef, 0x1001, 11);
	check_line(ef, 0x1002, 12);
}

/* The number of symbols in the ELF file of @j. */
static size_t symbols_of(const struct jit *j, struct symtab *st)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "7.jo");
	_cleanup_(jit_elf_freep) struct jit_elf *elf = jit_elf_new(j);
	struct elffile *ef;
	size_t count;

	CHECK_EQ(jit_elf_write(elf, path, NULL), 0);
	if (!CHECK(elffile_open(path, &ef, NULL) == 0))
		return 0;
	symtab_hold(st, ef, elfsym_release);
	count = elfsym_load_region(ef, 0x800, st);
	symtab_settle(st);
	check_line(ef, 0x1002, 12);
	return count;
}

static void a_jitdump_adds_lines_to_code_that_has_a_name(void)
{
	static const char bytes[] = "\x90\x90\x90\xc3";
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(jit_freep) struct jit *j = jit_new();
	_cleanup_(jit_source_freep) struct jit_source *s = NULL;
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	_cleanup_close_ int fd = -1;
	const struct jit_code *c;

	jit_load(j,
		 &(struct jit_code){ 0x1000, 4, .from = 9, .late = true, .name = "int A.f(int)" });
	CHECK(!jit_find(j, 0x1002, 1)->line_count);
	add_dump_header(&b, 0);
	add_lines(&b, 2000, 0x1000);
	add_load(&b, 2000, 0x1000, bytes, "LA;f(I)I");
	add_load(&b, 2500, 0x1000, bytes, "LA;f(I)I");
	s = source_of(b.text, b.length, &fd);
	CHECK_EQ(jit_source_read(s, j, 100, NULL), b.length);
	CHECK_EQ(jit_count(j), 2);
	CHECK(jit_at(j, 0)->renewed);
	c = jit_find(j, 0x1002, 1);
	CHECK(c == jit_at(j, 1) && c == jit_find(j, 0x1002, 3000));
	CHECK_STR(c->name, "int A.f(int)");
	CHECK_EQ(c->place, 0x1000);
	CHECK_EQ(c->line_count, 3);
	CHECK_EQ(symbols_of(j, st), 1);
	check_symbol(st, 0x1000 - 0x800, "int A.f(int)");
	load(j, 0x1000, 8, 4000, "g");
	CHECK_STR(name_at(j, 0x1002, 3999), "int A.f(int)");
	CHECK_STR(name_at(j, 0x1002, 4000), "g");
}

TESTS(T(code_is_found_by_address), T(code_over_code_is_distinguished_by_time),
      T(code_moves_and_goes), T(the_same_code_again_changes_nothing), T(impossible_code_is_counted),
      T(a_million_pieces_in_any_order_take_no_longer), T(names_and_lines_count_in_the_limit),
      T(a_perf_map_is_read_as_it_grows), T(a_jitdump_has_times_lines_and_code),
      T(code_knows_how_to_unwind_it), T(a_dump_cut_anywhere_goes_on), T(a_damaged_dump_is_named),
      T(times_in_cycles_are_not_believed), T(the_dump_of_the_originals_agent_is_read),
      T(the_elf_file_has_symbols_code_and_lines), T(a_jitdump_adds_lines_to_code_that_has_a_name))
