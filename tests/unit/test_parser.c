/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/log.h"
#include "base/span.h"
#include "base/strbuf.h"
#include "elf/elf_build_id.h"
#include "elf/elffile.h"
#include "jit/jit.h"
#include "jit/jit_source.h"
#include "unwind/unwind_code.h"
#include "parser/parser.h"
#include "parser/internal/parser_wire.h"
#include "unwind/unwind.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

static struct parser *make(void)
{
	struct parser *p = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(parser_new(&p, &err), 0);
	return p;
}

static void a_build_id_is_what_it_is(void)
{
	_cleanup_(parser_freep) struct parser *p = make();
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int none = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	struct build_id here = { 0 }, there = { 0 };

	CHECK_EQ(elf_build_id_read_fd(fd, &here), parser_build_id(p, fd, &there));
	CHECK(!memcmp(&here, &there, sizeof(here)));
	CHECK_EQ(parser_build_id(p, none, &there), -EBADMSG);
	CHECK_EQ(parser_build_id(NULL, fd, &there), 0);
	CHECK_EQ(parser_lost(p), 0);
}

/* Whether both tables have the same rows, whatever the numbers of their rules. */
static bool same_rows(const struct unwind_table *a, const struct unwind_rules *a_rules,
		      const struct unwind_table *b, const struct unwind_rules *b_rules)
{
	const struct unwind_rule *a_all, *b_all;
	size_t i, count;

	a_all = unwind_rules_all(a_rules, &count);
	b_all = unwind_rules_all(b_rules, &count);
	if (a->row_count != b->row_count || a->page_count != b->page_count || a->base != b->base ||
	    memcmp(a->pages, b->pages, a->page_count * sizeof(*a->pages)) != 0 ||
	    memcmp(a->segments, b->segments, sizeof(a->segments)) != 0)
		return false;
	for (i = 0; i < a->row_count; i++)
		if (a->rows[i].pc != b->rows[i].pc ||
		    memcmp(&a_all[a->rows[i].rule], &b_all[b->rows[i].rule], sizeof(*a_all)) != 0)
			return false;
	return true;
}

static void a_table_is_what_it_is(void)
{
	static const char *const files[] = { "/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6",
					     "/lib/aarch64-linux-gnu/libc.so.6", "/bin/true" };
	_cleanup_(parser_freep) struct parser *p = make();
	_cleanup_(unwind_rules_freep) struct unwind_rules *here = unwind_rules_new();
	_cleanup_(unwind_rules_freep) struct unwind_rules *there = unwind_rules_new();
	size_t i, compared = 0;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_(unwind_table_freep) struct unwind_table *a = NULL, *b = NULL;
		_cleanup_close_ int fd = open(files[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		CHECK_EQ(parser_table(NULL, fd, here, &a, NULL), 0);
		CHECK_EQ(parser_table(p, fd, there, &b, NULL), 0);
		CHECK(a && b && same_rows(a, here, b, there));
		compared++;
	}
	CHECK(compared > 0);
}

static void a_file_without_table_has_none(void)
{
	_cleanup_(parser_freep) struct parser *p = make();
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	_cleanup_close_ int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	struct unwind_table *table = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(parser_table(p, fd, rules, &table, &err), -EBADMSG);
	CHECK_EQ(parser_lost(p), 0);
}

/* --- code made at run time --- */

static void add_u32(struct strbuf *b, uint32_t v)
{
	strbuf_add(b, &v, sizeof(v));
}

static void add_u64(struct strbuf *b, uint64_t v)
{
	strbuf_add(b, &v, sizeof(v));
}

static void add_head(struct strbuf *b, uint32_t id, size_t payload, uint64_t time)
{
	add_u32(b, id);
	add_u32(b, (uint32_t)(16 + payload));
	add_u64(b, time);
}

static void add_load(struct strbuf *b, uint64_t address, uint64_t time, const char *name)
{
	add_head(b, JIT_DUMP_LOAD, 40 + strlen(name) + 1 + 4, time);
	add_u32(b, 1);
	add_u32(b, 1);
	add_u64(b, address);
	add_u64(b, address);
	add_u64(b, 4);
	add_u64(b, 0);
	strbuf_add(b, name, strlen(name) + 1);
	strbuf_add(b, "\x90\x91\x92\x93", 4);
}

static void add_lines(struct strbuf *b, uint64_t address, uint64_t time)
{
	add_head(b, JIT_DUMP_DEBUG_INFO, 16 + 2 * 16 + 4 + 2, time);
	add_u64(b, address);
	add_u64(b, 2);
	add_u64(b, address);
	add_u32(b, 7);
	add_u32(b, 0);
	strbuf_add(b, "a.c", 4);
	add_u64(b, address + 1);
	add_u32(b, 8);
	add_u32(b, 0);
	strbuf_add(b, "\xff", 2);
}

/* How to unwind the code of the next record: "sub $8, %rsp" at its start. */
static void add_unwinding(struct strbuf *b, uint64_t time)
{
	static const uint8_t cfi[] = {
		20,   0,    0,	  0,	0,    0, 0, 0, 1,  'z',	 'R',  0,  1,  0x78, 16, 1,
		0x1b, 12,   7,	  8,	0x90, 1, 0, 0, 20, 0,	 0,    0,  28, 0,    0,	 0,
		0xd8, 0xff, 0xff, 0xff, 4,    0, 0, 0, 0,  0x42, 0x0e, 16, 0,  0,    0,	 0,
	};

	add_head(b, JIT_DUMP_UNWINDING_INFO, 24 + sizeof(cfi), time);
	add_u64(b, sizeof(cfi));
	add_u64(b, 0);
	add_u64(b, 0);
	strbuf_add(b, cfi, sizeof(cfi));
}

/* A call inlined at the second byte, which calls another one; what it is called is empty. */
static void add_inlined(struct strbuf *b, uint64_t address, uint64_t time)
{
	static const uint32_t inlined[] = { 2, 1, 0, 3, 0, 0, 1, 4, 0, 0, 1, 2, 0 };

	add_head(b, JIT_DUMP_INLINED, 8 + sizeof(inlined), time);
	add_u64(b, address);
	strbuf_add(b, (const char *)inlined, sizeof(inlined));
}

/* All that can be said in a jitdump. */
static void make_dump(struct strbuf *b)
{
	uint64_t i;

	add_u32(b, JIT_DUMP_MAGIC);
	add_u32(b, 1);
	add_u32(b, 40);
	add_u32(b, 62);
	add_u32(b, 0);
	add_u32(b, 1);
	add_u64(b, 0);
	add_u64(b, 0);
	for (i = 0; i < 20; i++) {
		add_lines(b, 0x1000 + i * 16, 100 + i);
		add_unwinding(b, 100 + i);
		add_inlined(b, 0x1000 + i * 16, 100 + i);
		add_load(b, 0x1000 + i * 16, 100 + i, "one");
	}
	add_head(b, JIT_DUMP_MOVE, 40, 200);
	add_u32(b, 1);
	add_u32(b, 1);
	add_u64(b, 0);
	add_u64(b, 0x1000);
	add_u64(b, 0x9000);
	add_u64(b, 4);
	add_head(b, JIT_DUMP_UNLOAD, 8, 210);
	add_u64(b, 0x1010);
	add_load(b, 0x1020, 220, "over it");
}

static void check_same(const struct jit *a, const struct jit *b)
{
	size_t i, k;

	CHECK_EQ(jit_count(a), jit_count(b));
	for (i = 0; i < jit_count(a) && i < jit_count(b); i++) {
		const struct jit_code *x = jit_at(a, i), *y = jit_at(b, i);

		CHECK_EQ(x->address, y->address);
		CHECK_EQ(x->size, y->size);
		CHECK_EQ(x->from, y->from);
		CHECK_EQ(x->to, y->to);
		CHECK_EQ(x->place, y->place);
		CHECK_STR(x->name, y->name);
		CHECK_EQ(!x->bytes, !y->bytes);
		CHECK(!x->bytes || !memcmp(x->bytes, y->bytes, x->size));
		CHECK_EQ(x->line_count, y->line_count);
		for (k = 0; k < x->line_count && k < y->line_count; k++) {
			CHECK_EQ(x->lines[k].address, y->lines[k].address);
			CHECK_EQ(x->lines[k].line, y->lines[k].line);
			CHECK_STR(x->lines[k].file, y->lines[k].file);
		}
		CHECK_EQ(x->row_count, y->row_count);
		CHECK(x->row_count != y->row_count || !x->row_count ||
		      !memcmp(x->rows, y->rows, x->row_count * sizeof(*x->rows)));
		CHECK_EQ(x->inlined_bytes, y->inlined_bytes);
		CHECK(x->inlined_bytes != y->inlined_bytes || !x->inlined_bytes ||
		      !memcmp(x->inlined, y->inlined, x->inlined_bytes));
	}
}

/* Reads @text here and there as it grows by @step bytes. */
static void compare_sources(const char *text, size_t size, size_t step)
{
	_cleanup_(parser_freep) struct parser *p = make();
	_cleanup_(jit_freep) struct jit *a = jit_new(), *b = jit_new();
	_cleanup_close_ int fd = memfd_create("source", MFD_CLOEXEC);
	_cleanup_(jit_source_freep) struct jit_source *here = jit_source_new(dup(fd), "here");
	_cleanup_(jit_source_freep) struct jit_source *there = jit_source_new(dup(fd), "there");
	uint64_t now = 1000;
	size_t at = 0;

	while (at < size) {
		size_t n = MIN(step, size - at);

		CHECK_EQ(write(fd, text + at, n), n);
		at += n;
		CHECK(jit_source_read(here, a, now, NULL) >= 0);
		do
			n = (size_t)parser_jit(p, there, b, now, NULL);
		while (n && CHECK(n <= 1 << 20));
		CHECK_EQ(jit_source_timed(here), jit_source_timed(there));
		CHECK_EQ(jit_source_time(here), jit_source_time(there));
		now += 1000;
	}
	CHECK_EQ(parser_jit(p, there, b, now, NULL), 0);
	CHECK(jit_count(a) > 0);
	check_same(a, b);
	CHECK_EQ(parser_lost(p), 0);
}

enum { SECTIONS = 65000 }; /* libelf allocates some hundred bytes for each, at once */

/* A program with a great many sections, all empty. */
static int many_sections(void)
{
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
	};
	int fd = memfd_create("sections", MFD_CLOEXEC);

	CHECK_EQ(ftruncate(fd, (off_t)(sizeof(header) + SECTIONS * sizeof(Elf64_Shdr))), 0);
	CHECK_EQ(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	return fd;
}

static void find_reason(enum log_level level _unused_, const char *text, void *data)
{
	*(bool *)data = strstr(text, ": takes too much memory to read; ignored") != NULL;
}

/* Reads it with little memory; the exit status is the first step that went wrong. */
static int read_with_little_memory(int fd)
{
	const struct rlimit little = { 8 << 20, 8 << 20 };
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	_cleanup_(parser_freep) struct parser *p = NULL;
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;
	bool is_named = false;

	if (setrlimit(RLIMIT_DATA, &little) < 0 || parser_new(&p, NULL) < 0)
		return 1;
	if (parser_table(p, fd, rules, &table, NULL) != -EPIPE)
		return 2;
	log_to(LOG_LEVEL_INFO, find_reason, &is_named);
	parser_tell(p);
	return parser_lost(p) != 1 ? 3 : is_named ? 0 : 4;
}

static void a_library_without_memory_is_a_loss(void)
{
	_cleanup_(parser_freep) struct parser *p = make();
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	_cleanup_close_ int fd = many_sections();
	struct unwind_table *table = NULL;
	int status = -1;
	pid_t child;

	/* With enough of it, the file has no table. */
	CHECK(parser_table(p, fd, rules, &table, NULL) < 0);
	CHECK_EQ(parser_lost(p), 0);
	if (SANITIZED)
		SKIP("workers have no limit of memory with sanitizers");
	child = fork();
	if (child == 0)
		_exit(read_with_little_memory(fd));
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(WEXITSTATUS(status), 0);
}

static void a_perf_map_is_what_it_is(void)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	int i;

	for (i = 0; i < 300; i++)
		strbuf_addf(&text, "%x %x f_%d with a name\nnonsense\n", 0x1000 + i % 200 * 32, 16,
			    i);
	compare_sources(text.text, text.length, 97);
	compare_sources(text.text, text.length, text.length);
}

static void a_jitdump_is_what_it_is(void)
{
	_cleanup_(strbuf_done) struct strbuf dump = STRBUF_INIT;

	make_dump(&dump);
	compare_sources(dump.text, dump.length, 41);
	compare_sources(dump.text, dump.length, dump.length);
}

static void a_long_map_comes_in_portions(void)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	int i;

	for (i = 0; i < 120000; i++)
		strbuf_addf(&text, "%x 10 function_with_a_rather_long_name_%d\n", 0x10000 + i * 16,
			    i);
	CHECK(text.length > 4 << 20);
	compare_sources(text.text, text.length, text.length);
}

static void a_damaged_dump_is_reported_by_its_name(void)
{
	_cleanup_(strbuf_done) struct strbuf dump = STRBUF_INIT;
	_cleanup_(parser_freep) struct parser *p = make();
	_cleanup_(jit_freep) struct jit *j = jit_new();
	int fd = memfd_create("source", MFD_CLOEXEC);
	_cleanup_(jit_source_freep) struct jit_source *s = jit_source_new(fd, "/tmp/jit-7.dump");
	struct error err = ERROR_INIT;

	make_dump(&dump);
	add_u64(&dump, 3);
	add_u64(&dump, 3);
	CHECK_EQ(write(fd, dump.text, dump.length), dump.length);
	CHECK(parser_jit(p, s, j, 1, &err) < 0);
	CHECK(!strncmp(err.text, "/tmp/jit-7.dump: record with an impossible size", 47));
	CHECK_EQ(jit_count(j), 22);
	CHECK(parser_jit(p, s, j, 2, &err) < 0);
}

/* --- answers that no worker of ours gives --- */

/* An answer of a worker, made here; caller frees. */
static char *answer(enum parser_what what, int fd, size_t *ret_size)
{
	const struct parser_request request = { .what = what, .now = 5 };
	struct sandbox_reply reply = { .room = 8 << 20 };

	reply.memory = xmalloc(reply.room);
	parser_serve(&request, sizeof(request), fd, &reply);
	CHECK_EQ(reply.code, 0);
	*ret_size = reply.size;
	return reply.memory;
}

static void an_answer_cut_short_is_none(void)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	_cleanup_close_ int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *bytes = NULL;
	struct unwind_table *table = NULL;
	size_t size, n;

	bytes = answer(PARSER_TABLE, fd, &size);
	for (n = 0; n < size; n += 1 + size / 512) {
		_cleanup_free_ char *cut = xmemdup(bytes, n);

		CHECK_EQ(parser_take_table(span_of(cut, n), rules, &table), -EBADMSG);
	}
	CHECK_EQ(parser_take_table(span_of(bytes, size), rules, &table), 0);
	unwind_table_free(table);
}

static void a_table_with_impossible_numbers_is_none(void)
{
	_cleanup_close_ int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *bytes = NULL;
	size_t size, word;

	bytes = answer(PARSER_TABLE, fd, &size);
	/* Machine, segments, rules, pages, rows. */
	for (word = 0; word < 9; word++) {
		_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
		_cleanup_free_ char *wrong = xmemdup(bytes, size);
		struct unwind_table *table = NULL;
		bool counts = word == 0 || word > 4;

		memset(wrong + word * 8, 0xff, 8);
		CHECK_EQ(parser_take_table(span_of(wrong, size), rules, &table),
			 counts ? -EBADMSG : 0);
		unwind_table_free(table);
	}
	/* The last row's rule. */
	memset(bytes + size - 2, 0xff, 2);
	{
		_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
		struct unwind_table *table = NULL;

		CHECK_EQ(parser_take_table(span_of(bytes, size), rules, &table), -EBADMSG);
	}
}

static void a_build_id_that_is_too_long_is_none(void)
{
	struct build_id id = { .size = BUILD_ID_MAX + 1 };

	CHECK_EQ(parser_take_build_id(span_of(&id, sizeof(id)), &id), -EBADMSG);
	id.size = BUILD_ID_MAX;
	CHECK_EQ(parser_take_build_id(span_of(&id, sizeof(id)), &id), 0);
	CHECK_EQ(parser_take_build_id(span_of(&id, sizeof(id) - 1), &id), -EBADMSG);
}

TESTS(T(a_build_id_is_what_it_is), T(a_table_is_what_it_is), T(a_file_without_table_has_none),
      T(a_library_without_memory_is_a_loss), T(a_perf_map_is_what_it_is),
      T(a_jitdump_is_what_it_is), T(a_long_map_comes_in_portions),
      T(a_damaged_dump_is_reported_by_its_name), T(an_answer_cut_short_is_none),
      T(a_table_with_impossible_numbers_is_none), T(a_build_id_that_is_too_long_is_none))
