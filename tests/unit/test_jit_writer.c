/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/code/jit_writer.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "file/path.h"
#include "elfwrite/jit_elf.h"
#include "jit/jit.h"
#include "test.h"

#include <string.h>
#include <sys/stat.h>

enum { PIECES = 50000 };

static struct jit *make_code(void)
{
	struct jit *j = jit_new();
	uint64_t i;

	for (i = 0; i < PIECES; i++) {
		_cleanup_free_ char *name = xasprintf("function_%llu", (unsigned long long)i);

		jit_load(j, &(struct jit_code){ .address = 0x1000 + 64 * (PIECES - i),
						.size = 64,
						.from = 1,
						.name = name });
	}
	return j;
}

static uint64_t size_of(const char *path)
{
	struct stat st = { 0 };

	CHECK_EQ(stat(path, &st), 0);
	return (uint64_t)st.st_size;
}

static void the_caller_does_not_write(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *direct = path_join(dir, "direct"), *later = path_join(dir, "a/b.jo"),
			    *too = path_join(dir, "c.jo");
	_cleanup_(jit_freep) struct jit *j = make_code();
	_cleanup_(jit_elf_freep) struct jit_elf *code = jit_elf_new(j);
	_cleanup_(jit_writer_freep) struct jit_writer *w = jit_writer_new();
	struct jit_writing *job;
	uint64_t since_ns, direct_ns, own_ns, number;

	since_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	CHECK_EQ(jit_elf_write(code, direct, NULL), 0);
	direct_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - since_ns;
	CHECK(jit_writer_is_idle(w));

	since_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	job = jit_writing_new(j, 7);
	jit_writing_path(job, xstrdup(later));
	jit_writing_path(job, xstrdup(too));
	number = jit_writer_add(w, job);
	own_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - since_ns;
	CHECK(own_ns < direct_ns);
	/* What comes now is not in the files. */
	jit_load(j, &(struct jit_code){ .address = 64, .size = 64, .from = 2, .name = "new" });
	jit_writer_wait(w);
	CHECK(jit_writer_is_over(w, number));
	CHECK_EQ(size_of(later), size_of(direct));
	CHECK_EQ(size_of(too), size_of(direct));
}

static char logged[256];

static void keep(enum log_level level _unused_, const char *text, void *data _unused_)
{
	(void)snprintf(logged, sizeof(logged), "%s", text);
}

static void what_cannot_be_written_is_logged(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *file = path_join(dir, "file"), *below = path_join(file, "7.jo");
	_cleanup_(jit_freep) struct jit *j = jit_new();
	_cleanup_(jit_writer_freep) struct jit_writer *w = jit_writer_new();
	struct jit_writing *job;

	CHECK_EQ(path_write(file, "", 0644, NULL), 0);
	jit_load(j, &(struct jit_code){ .address = 64, .size = 64, .from = 2, .name = "f" });
	log_to(LOG_LEVEL_WARNING, keep, NULL);
	job = jit_writing_new(j, 7);
	jit_writing_path(job, xstrdup(below));
	(void)jit_writer_add(w, job);
	jit_writer_wait(w);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	CHECK(strstr(logged, "code of process 7 has no names"));
}

TESTS(T(the_caller_does_not_write), T(what_cannot_be_written_is_logged))
