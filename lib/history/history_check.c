/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/history_check.h"

#include "base/dirtree.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "history/history_name.h"
#include "history/internal/segment.h"
#include "history/internal/history_source.h"
#include "sfile/idle.h"
#include "sfile/session.h"

#include <errno.h>
#include <fcntl.h>
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

static int count_file(const struct dirtree_visit *visit, void *data)
{
	*(size_t *)data += S_ISREG(visit->st.st_mode);
	return 0;
}

/* Describes what was set apart because it cannot be repaired. */
static void check_set_apart(const char *samples, struct strbuf *text)
{
	_cleanup_free_ char *dir = path_join(samples, SESSION_IDLE);
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	size_t count = 0;

	if (fd >= 0)
		(void)dirtree_walk(fd, IDLE_DAMAGED, count_file, &count, NULL);
	if (count)
		strbuf_addf(text, "%s%s/" IDLE_DAMAGED ": %zu files, whose samples are lost",
			    text->length ? "; " : "", dir, count);
}

char *history_check(const char *samples)
{
	struct strbuf text = STRBUF_INIT;

	check_directory(samples, HISTORY_DIRECTORY, &text);
	check_directory(samples, SESSION_IDLE, &text);
	check_set_apart(samples, &text);
	return text.length ? strbuf_take(&text) : NULL;
}
