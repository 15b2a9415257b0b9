/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history_functions.h"

#include "history_replay.h"

#include "base/macro.h"
#include "base/mem.h"
#include "collect/internal/session_functions.h"
#include "history/history_kind.h"
#include "history/segment_tree.h"

#include <stdlib.h>
#include <string.h>

static const char *recorded; /* the session */

/* Removes what was appended to the name of an image: it is between the last character @mark and the
 * next field. */
static void strip(char *line, char mark)
{
	char *at = strrchr(line, mark), *end;

	if (!at || strspn(at + 1, "0123456789abcdef") != strcspn(at + 1, "\t"))
		return;
	end = at + 1 + strcspn(at + 1, "\t");
	memmove(at, end, strlen(end) + 1);
}

static const void *of_line(const struct segment_functions *f, const char *line)
{
	struct segment_functions *of_recorded = f->data;
	_cleanup_free_ char *before = xstrdup(line);

	strip(before, HISTORY_REPLAY_SHORT);
	strip(before, '#');
	of_recorded->kind = f->kind;
	return of_recorded->of_line(of_recorded, before);
}

static void open_functions(const char *samples _unused_, struct segment_functions *ret)
{
	struct segment_functions *f = xcalloc(1, sizeof(*f));

	session_functions.open(recorded, f);
	*ret = (struct segment_functions){ .of_line = of_line, .start = f->start, .data = f };
}

static void close_functions(struct segment_functions *f)
{
	session_functions.close(f->data);
	free(f->data);
}

const struct history_functions *history_functions(const char *samples)
{
	static const struct history_functions functions = { open_functions, close_functions };

	recorded = samples;
	return &functions;
}
