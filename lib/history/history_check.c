/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/history_check.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "history/history_name.h"
#include "history/internal/segment.h"
#include "history/internal/history_source.h"
#include "sfile/session.h"

#include <errno.h>
#include <stdlib.h>

/* Describes what is wrong with the segments in the directory @below of the session. */
static void check_directory(const char *samples, const char *below, struct strbuf *text)
{
	_cleanup_free_ char *dir = path_join(samples, below);
	size_t count, i;
	_cleanup_free_ struct history_source *list = sources_list(dir, &count);

	for (i = 0; i < count; i++) {
		_cleanup_free_ char *path = source_path(dir, &list[i]);
		_cleanup_(segment_freep) struct segment *s = NULL;
		struct error err = ERROR_INIT;
		int r = list[i].level ? segment_open(path, &s, &err) : 0;

		if (r == 0 && s)
			r = segment_check(s, &err);
		if (r < 0 && r != -ENOENT) /* deleted meanwhile */
			strbuf_addf(text, "%s%s", text->length ? "; " : "", err.text);
	}
}

char *history_check(const char *samples)
{
	struct strbuf text = STRBUF_INIT;

	check_directory(samples, HISTORY_DIRECTORY, &text);
	check_directory(samples, SESSION_IDLE, &text);
	return text.length ? strbuf_take(&text) : NULL;
}
