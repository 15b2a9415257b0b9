/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all tools share. */
#include "test.h"

#include "tools/common/tool.h"

#include <errno.h>

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

TESTS(T(a_failure_in_between_is_reported), T(the_reason_of_an_earlier_failure_is_found_again))
