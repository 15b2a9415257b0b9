/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/common/progress.h"

#include "base/clock.h"

void progress_init(struct progress *p, const char *tool, FILE *out)
{
	*p = (struct progress){ .out = out, .tool = tool, .patience_ms = 500, .interval_ms = 100 };
	p->started_ms = clock_now_ms();
}

void progress_show(struct progress *p, size_t done, size_t all, const char *what)
{
	int64_t now;

	if (!p->out)
		return;
	now = clock_now_ms();
	if (now - p->started_ms < p->patience_ms || now - p->shown_ms < p->interval_ms)
		return;
	/* Return the cursor, so that a warning is not printed after the line. */
	(void)fprintf(p->out, "%s: %zu of %zu %s\033[K\r", p->tool, done, all, what);
	(void)fflush(p->out);
	p->shown_ms = now;
	p->is_shown = true;
}

void progress_done(struct progress *p)
{
	if (!p->is_shown)
		return;
	(void)fputs("\033[K", p->out);
	(void)fflush(p->out);
	p->is_shown = false;
}
