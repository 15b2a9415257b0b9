/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "tools/common/progress.h"
#include "tools/common/tool.h"

#include <fcntl.h>
#include <stdlib.h>

static void long_work_is_said_and_taken_away(void)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct progress p;

	progress_init(&p, "tool", out);
	p.patience_ms = p.interval_ms = 0;
	progress_show(&p, 1, 3, "images");
	progress_show(&p, 2, 3, "images");
	progress_done(&p);
	progress_done(&p);
	(void)fclose(out);
	CHECK_STR(text, "tool: 1 of 3 images\033[K\rtool: 2 of 3 images\033[K\r\033[K");
}

static void short_work_says_nothing(void)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct progress p;

	progress_init(&p, "tool", out);
	p.patience_ms = INT64_MAX;
	progress_show(&p, 1, 3, "images");
	progress_done(&p);
	(void)fclose(out);
	CHECK_EQ(size, 0);
}

static void without_a_terminal_nothing_is_said(void)
{
	struct progress p;

	progress_init(&p, "tool", NULL);
	p.patience_ms = 0;
	progress_show(&p, 1, 3, "images");
	CHECK(!p.is_shown);
	progress_done(&p);
}

static void a_line_is_written_over_only_where_the_terminal_can(void)
{
	_cleanup_close_ int terminal = posix_openpt(O_RDWR | O_NOCTTY), null = -1;

	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	(void)setenv("TERM", "xterm", 1);
	CHECK(!tool_can_redraw(null));
	if (terminal < 0)
		return;
	CHECK(tool_can_redraw(terminal));
	(void)setenv("TERM", "dumb", 1);
	CHECK(!tool_can_redraw(terminal));
	(void)unsetenv("TERM");
	CHECK(!tool_can_redraw(terminal));
}

TESTS(T(long_work_is_said_and_taken_away), T(short_work_says_nothing),
      T(without_a_terminal_nothing_is_said), T(a_line_is_written_over_only_where_the_terminal_can))
