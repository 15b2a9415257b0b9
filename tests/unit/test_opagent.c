/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "agent/opagent.h"
#include "base/strbuf.h"
#include "dwarf/lines.h"
#include "elf/elffile.h"
#include "elfwrite/jit_elf.h"
#include "jit/jit.h"
#include "jit/jit_inlined.h"
#include "jit/jit_source.h"
#include "unwind/unwind_code.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The dump of this process in @dir; caller frees. */
static char *dump_path(const char *dir)
{
	return xasprintf("%s/jit-%d.dump", dir, (int)getpid());
}

static void what_is_said_is_read(void)
{
	static const uint8_t code[] = { 0x90, 0xc3 };
	static const uint8_t cfi[] = { 20, 0,	 0,  0, 0,    0,  0, 0, 1,    'z',  'R',  0,
				       1,  0x78, 16, 1, 0x1b, 12, 7, 8, 0x90, 1,    0,	  0,
				       20, 0,	 0,  0, 28,   0,  0, 0, 0xd8, 0xff, 0xff, 0xff,
				       2,  0,	 0,  0, 0,    0,  0, 0, 0,    0,    0,	  0 };
	static const struct debug_line_info lines[] = { { 0x1000, 3, "a.lang" },
							{ 0x1001, 4, "b.lang" } };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = dump_path(dir);
	_cleanup_(jit_freep) struct jit *j = jit_new();
	_cleanup_(jit_source_freep) struct jit_source *s = NULL;
	const struct jit_code *c;
	op_agent_t agent;

	(void)setenv("JITDUMPDIR", dir, 1);
	agent = op_open_agent();
	if (!CHECK(agent))
		return;
	CHECK_EQ(op_write_debug_line_info(agent, code, 2, lines), 0);
	CHECK_EQ(op_write_native_code(agent, "with code", 0x1000, code, sizeof(code)), 0);
	CHECK_EQ(op_write_native_code(agent, "without", 0x2000, NULL, 64), 0);
	CHECK_EQ(op_unload_native_code(agent, 0x2000), 0);
	CHECK_EQ(op_write_unwindable_code(agent, "unwindable", 0x3000, code, sizeof(code), cfi,
					  sizeof(cfi)),
		 0);
	CHECK_EQ(op_close_agent(agent), 0);

	s = jit_source_new(open(path, O_RDONLY | O_CLOEXEC), path);
	CHECK(jit_source_read(s, j, 1, NULL) > 0);
	CHECK(jit_source_timed(s));
	CHECK_EQ(jit_count(j), 3);
	c = jit_at(j, 2);
	CHECK_STR(c->name, "unwindable");
	CHECK(c->row_count == 1 && c->rows[0].rule.cfa_offset == 8);
	CHECK_EQ(jit_at(j, 1)->row_count, 0);
	c = jit_at(j, 0);
	CHECK_STR(c->name, "with code");
	CHECK_EQ(c->bytes[1], 0xc3);
	CHECK_EQ(c->line_count, 2);
	CHECK_STR(c->lines[1].file, "b.lang");
	CHECK_EQ(c->to, JIT_FOREVER);
	c = jit_at(j, 1);
	CHECK(!c->bytes);
	CHECK(c->to != JIT_FOREVER);
	CHECK(c->from > 0 && c->from < c->to);
}

/* Reads this process's dump in @dir into @j. */
static void read_dump(const char *dir, struct jit *j)
{
	_cleanup_free_ char *path = dump_path(dir);
	_cleanup_(jit_source_freep) struct jit_source *s = NULL;

	s = jit_source_new(open(path, O_RDONLY | O_CLOEXEC), path);
	CHECK(jit_source_read(s, j, 1, NULL) > 0);
}

/* The functions that the code at @address was inlined from, the innermost first, with the lines of
 * the calls. */
static char *calls_at(struct lines *l, uint64_t address)
{
	struct strbuf text = STRBUF_INIT;
	const struct lines_call *calls;
	size_t i, n = lines_inlines(l, address, &calls);

	for (i = 0; i < n; i++)
		strbuf_addf(&text, "%s called at %s:%u; ", calls[i].function,
			    calls[i].at.file ?: "?", calls[i].at.line);
	strbuf_adds(&text, "");
	return text.text;
}

static void check_calls(const struct jit *j, const char *path)
{
	_cleanup_(jit_elf_freep) struct jit_elf *elf = jit_elf_new(j);
	_cleanup_(lines_freep) struct lines *l = NULL;
	static const struct {
		uint64_t address;
		const char *calls;
	} expected[] = {
		{ 0x1000, "" },
		{ 0x1001, "outer called at a.lang:3; " },
		{ 0x1002, "inner called at b.lang:7; outer called at a.lang:3; " },
		{ 0x1003, "inner called at b.lang:7; outer called at a.lang:3; " },
		{ 0x1004, "outer called at ?:0; " },
		{ 0x1005, "" },
		{ 0x1007, "" },
	};
	struct elffile *ef;
	size_t i;

	CHECK_EQ(jit_elf_write(elf, path, NULL), 0);
	if (!CHECK(elffile_open(path, &ef, NULL) == 0))
		return;
	l = lines_new(ef, NULL);
	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		_cleanup_free_ char *calls = calls_at(l, expected[i].address);

		CHECK_STR(calls, expected[i].calls);
	}
	lines_free(STEAL(l));
	elffile_close(ef);
}

static void inlined_calls_are_in_the_elf_file(void)
{
	static const uint8_t code[8];
	static const struct debug_line_info lines[] = { { 0x1000, 3, "a.lang" } };
	static const struct op_inlined_call calls[] = { { 0, 3, "a.lang", "outer" },
							{ 1, 7, "b.lang", "inner" },
							{ 0, 0, NULL, "outer" } };
	static const struct op_inlined_row rows[] = { { 1, 1 }, { 2, 2 }, { 4, 3 }, { 5, 0 } };
	static const struct op_inlined_calls inlined = { calls, 3, rows, 4 };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "7.jo");
	_cleanup_(jit_freep) struct jit *j = jit_new();
	op_agent_t agent;

	(void)setenv("JITDUMPDIR", dir, 1);
	agent = op_open_agent();
	if (!CHECK(agent))
		return;
	CHECK_EQ(op_write_debug_line_info(agent, (const void *)0x1000, 1, lines), 0);
	CHECK_EQ(op_write_inlined_calls(agent, 0x1000, &inlined), 0);
	CHECK_EQ(op_write_native_code(agent, "whole", 0x1000, code, sizeof(code)), 0);
	/* Another thread added code before that of these calls. */
	CHECK_EQ(op_write_inlined_calls(agent, 0x3000, &inlined), 0);
	CHECK_EQ(op_write_native_code(agent, "other", 0x2000, code, sizeof(code)), 0);
	CHECK_EQ(op_close_agent(agent), 0);
	read_dump(dir, j);
	CHECK_EQ(jit_count(j), 2);
	CHECK(jit_at(j, 0)->inlined_bytes > 0);
	CHECK_EQ(jit_at(j, 1)->inlined_bytes, 0);
	check_calls(j, path);
}

static void calls_need_neither_lines_nor_files(void)
{
	static const uint8_t code[8];
	static const struct op_inlined_call call = { 0, 0, NULL, "inner" };
	static const struct op_inlined_row row = { 0, 1 };
	static const struct op_inlined_calls inlined = { &call, 1, &row, 1 };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "7.jo"), *calls = NULL;
	_cleanup_(jit_freep) struct jit *j = jit_new();
	_cleanup_(jit_elf_freep) struct jit_elf *elf = NULL;
	_cleanup_(lines_freep) struct lines *l = NULL;
	struct elffile *ef;
	op_agent_t agent;

	(void)setenv("JITDUMPDIR", dir, 1);
	agent = op_open_agent();
	CHECK_EQ(op_write_inlined_calls(agent, 0x1000, &inlined), 0);
	CHECK_EQ(op_write_native_code(agent, "whole", 0x1000, code, sizeof(code)), 0);
	CHECK_EQ(op_close_agent(agent), 0);
	read_dump(dir, j);
	elf = jit_elf_new(j);
	CHECK_EQ(jit_elf_write(elf, path, NULL), 0);
	if (!CHECK(elffile_open(path, &ef, NULL) == 0))
		return;
	l = lines_new(ef, NULL);
	calls = calls_at(l, 0x1004);
	CHECK_STR(calls, "inner called at ?:0; ");
	lines_free(STEAL(l));
	elffile_close(ef);
}

/* As many instructions as fit into a record, by turns of one and of another chain of 32 calls:
 * three times as many calls as a file has. */
static void a_file_has_a_bounded_number_of_calls(void)
{
	enum { DEPTH = JIT_INLINED_DEPTH_MAX, ROWS = 120000 };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "7.jo");
	_cleanup_free_ uint32_t *words = xcalloc(2 + 4 * 2 * DEPTH + 2 * ROWS + 1, sizeof(*words));
	_cleanup_(jit_freep) struct jit *j = jit_new();
	_cleanup_(jit_elf_freep) struct jit_elf *elf = NULL;
	uint32_t *at = words, i;
	struct stat st;

	*at++ = 2 * DEPTH;
	*at++ = ROWS;
	for (i = 0; i < 2 * DEPTH; i++, at += 4)
		*at = i % DEPTH ? i : 0;
	for (i = 0; i < ROWS; i++) {
		*at++ = i;
		*at++ = DEPTH * (1 + i % 2);
	}
	jit_load(j, &(struct jit_code){ .address = 0x1000,
					.size = ROWS,
					.to = UINT64_MAX,
					.name = "f",
					.inlined = (const uint8_t *)words,
					.inlined_bytes = (uint32_t)((at + 1 - words) *
								    (ptrdiff_t)sizeof(*at)) });
	elf = jit_elf_new(j);
	CHECK_EQ(jit_elf_write(elf, path, NULL), 0);
	CHECK_EQ(stat(path, &st), 0);
	if (!CHECK(st.st_size > 24 << 20 && st.st_size < 32 << 20))
		printf("# %zu bytes\n", (size_t)st.st_size);
}

static void too_many_inlined_calls_are_an_error(void)
{
	static struct op_inlined_row rows[JIT_INLINED_MAX / 8];
	static const struct op_inlined_call call = { 0, 3, "a.lang", "outer" };
	const struct op_inlined_calls inlined = { &call, 1, rows, ARRAY_SIZE(rows) };
	_cleanup_directory_ char *dir = test_directory();
	op_agent_t agent;

	(void)setenv("JITDUMPDIR", dir, 1);
	agent = op_open_agent();
	CHECK_EQ(op_write_inlined_calls(agent, 0x1000, &inlined), -1);
	CHECK_EQ(errno, EFBIG);
	CHECK_EQ(op_write_inlined_calls(agent, 0x1000,
					&(struct op_inlined_calls){ .calls = &call }),
		 0);
	CHECK_EQ(op_close_agent(agent), 0);
}

/* What readers would refuse is not written. */
static void calls_that_make_no_sense_are_an_error(void)
{
	static const struct {
		struct op_inlined_call calls[2];
		struct op_inlined_row rows[2];
	} wrong[] = {
		{ { { 1, 3, NULL, "in itself" }, { 0, 4, NULL, "f" } }, { { 0, 1 }, { 1, 0 } } },
		{ { { 2, 3, NULL, "in a later one" }, { 0, 4, NULL, "f" } },
		  { { 0, 1 }, { 1, 0 } } },
		{ { { 0, 3, NULL, "f" }, { 0, 4, NULL, NULL } }, { { 0, 1 }, { 1, 0 } } },
		{ { { 0, 3, NULL, "f" }, { 0, 4, NULL, "g" } }, { { 0, 1 }, { 1, 3 } } },
		{ { { 0, 3, NULL, "f" }, { 0, 4, NULL, "g" } }, { { 1, 1 }, { 1, 2 } } },
	};
	static struct op_inlined_call deep[JIT_INLINED_DEPTH_MAX + 1];
	const struct op_inlined_row row = { 0, 1 };
	_cleanup_directory_ char *dir = test_directory();
	op_agent_t agent;
	size_t i;

	(void)setenv("JITDUMPDIR", dir, 1);
	agent = op_open_agent();
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		const struct op_inlined_calls in = { wrong[i].calls, 2, wrong[i].rows, 2 };

		errno = 0;
		if (!CHECK(op_write_inlined_calls(agent, 0x1000, &in) == -1 && errno == EINVAL))
			printf("# row %zu\n", i);
	}
	for (i = 0; i < ARRAY_SIZE(deep); i++)
		deep[i] = (struct op_inlined_call){ (unsigned int)i, 1, NULL, "f" };
	for (i = 0; i < 2; i++) {
		const struct op_inlined_calls in = { deep, JIT_INLINED_DEPTH_MAX + i, &row, 1 };

		CHECK_EQ(op_write_inlined_calls(agent, 0x1000, &in), i ? -1 : 0);
	}
	CHECK_EQ(op_write_inlined_calls(agent, 0x1000, NULL), -1);
	CHECK_EQ(op_close_agent(agent), 0);
}

static void misuse_is_an_error(void)
{
	_cleanup_directory_ char *dir = test_directory();
	uint64_t no_agent[8] = { 0 };
	op_agent_t agent;

	CHECK_EQ(op_close_agent(NULL), -1);
	CHECK_EQ(op_unload_native_code(no_agent, 0), -1);
	CHECK_EQ(errno, EINVAL);
	(void)setenv("JITDUMPDIR", dir, 1);
	agent = op_open_agent();
	CHECK_EQ(op_write_native_code(agent, NULL, 0x1000, NULL, 1), -1);
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(op_write_unwindable_code(agent, "f", 0x1000, NULL, 1, NULL, 1), -1);
	CHECK_EQ(op_write_native_code(agent, "f", 0x1000, NULL, 0), -1);
	CHECK_EQ(op_write_debug_line_info(agent, NULL, 0, NULL), 0);
	CHECK_EQ(op_close_agent(agent), 0);
	(void)setenv("JITDUMPDIR", "/nonexistent", 1);
	CHECK(!op_open_agent());
	CHECK_EQ(errno, ENOENT);
	CHECK_EQ(op_major_version(), 1);
	CHECK_EQ(op_minor_version(), 0);
}

static void a_planted_link_is_not_followed(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = dump_path(dir), *victim = path_join(dir, "victim");
	struct stat st;
	op_agent_t agent;

	CHECK_EQ(path_write(victim, "mine", 0600, NULL), 0);
	CHECK_EQ(symlink(victim, path), 0);
	(void)setenv("JITDUMPDIR", dir, 1);
	agent = op_open_agent();
	CHECK(agent);
	(void)op_close_agent(agent);
	CHECK_EQ(stat(victim, &st), 0);
	CHECK_EQ(st.st_size, 4);
	CHECK_EQ(lstat(path, &st), 0);
	CHECK(S_ISREG(st.st_mode));
}

TESTS(T(what_is_said_is_read), T(inlined_calls_are_in_the_elf_file),
      T(calls_need_neither_lines_nor_files), T(a_file_has_a_bounded_number_of_calls),
      T(too_many_inlined_calls_are_an_error), T(calls_that_make_no_sense_are_an_error),
      T(misuse_is_an_error), T(a_planted_link_is_not_followed))
