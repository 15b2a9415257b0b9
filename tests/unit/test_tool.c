/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all tools share. */
#include "test.h"

#include "tools/common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* A disk that is full for one write. */
static ssize_t write_or_fail(void *data, const char *bytes _unused_, size_t count)
{
	int *left = data;

	if ((*left)-- > 0) {
		errno = ENOSPC;
		return 0;
	}
	return (ssize_t)count;
}

static void a_failure_in_between_is_reported(void)
{
	static const struct {
		int failures;
		bool flushed; /* what comes before is written already, without a look at the outcome
			       */
		int code;
	} rows[] = { { 0, true, 0 }, { 0, false, 0 }, { 1, false, -ENOSPC }, { 1, true, -EIO } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int left = rows[i].failures;
		FILE *out =
			fopencookie(&left, "w", (cookie_io_functions_t){ .write = write_or_fail });
		struct error err = ERROR_INIT;

		CHECK(out != NULL);
		(void)fputs("lost", out);
		if (rows[i].flushed)
			(void)fflush(out);
		(void)fputs("kept", out);
		CHECK_EQ(tool_flush(out, "/a/file", &err), rows[i].code);
		if (rows[i].code)
			CHECK(!strncmp(err.text, "/a/file: ", 9));
		(void)fclose(out);
	}
}

static void the_reason_of_an_earlier_failure_is_found_again(void)
{
	FILE *out = fopen("/dev/full", "we");
	struct error err = ERROR_INIT;

	if (!CHECK(out))
		return;
	(void)fputs("lost", out);
	(void)fflush(out);
	CHECK_EQ(tool_flush(out, "/dev/full", &err), -ENOSPC);
	(void)fclose(out);
}

static void file_cut_short_while_mapped_is_named(void)
{
	static const struct opt opts[] = { OPT_END };
	static const struct opt_cmdline cmdline = { .tool = "optest", .opts = opts };
	char *argv[] = { (char *)"optest", NULL };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "cut\033short"), *want = NULL;
	_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char said[512] = "";
	int err[2], status = 0;
	pid_t child;

	CHECK_EQ(ftruncate(fd, 8192), 0);
	CHECK_EQ(pipe(err), 0);
	child = fork();
	if (child == 0) {
		const volatile char *bytes = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);

		(void)dup2(err[1], STDERR_FILENO);
		(void)tool_options(&cmdline, 1, argv);
		_exit(ftruncate(fd, 0) == 0 ? bytes[4096] : 2);
	}
	(void)close(err[1]);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == TOOL_FAILURE);
	CHECK(read(err[0], said, sizeof(said) - 1) > 0);
	(void)close(err[0]);
	want = xasprintf("optest: %s/cut?short: was cut short while it was in use, or the disk is "
			 "full or fails\n",
			 dir);
	CHECK_STR(said, want);
}

TESTS(T(a_failure_in_between_is_reported), T(the_reason_of_an_earlier_failure_is_found_again),
      T(file_cut_short_while_mapped_is_named))
