/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "agent/opagent.h"
#include "jit/jit.h"
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

TESTS(T(what_is_said_is_read), T(misuse_is_an_error), T(a_planted_link_is_not_followed))
