/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/history_check.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "file/dirtree.h"
#include "file/path.h"
#include "history/history_kind.h"
#include "history/history_source.h"
#include "history/segment.h"
#include "sfile/idle.h"
#include "sfile/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* Describes what is wrong with a segment. */
static void add(struct strbuf *text, const char *wrong)
{
	strbuf_addf(text, "%s%s", text->length ? "; " : "", wrong);
}

static void check_segment(const char *path, struct strbuf *text)
{
	_cleanup_(segment_freep) struct segment *s = NULL;
	struct error err = ERROR_INIT;
	int r = segment_open(path, &s, &err);

	if (r == 0)
		r = segment_check(s, &err);
	if (r < 0 && r != -ENOENT) /* deleted meanwhile */
		add(text, err.text);
}

/* Describes what is wrong with the segments in @dir. */
static void check_directory(const char *dir, const struct history_kind *kind, struct strbuf *text)
{
	_cleanup_free_ struct history_source *list = NULL;
	struct error err = ERROR_INIT;
	size_t count = 0, i;

	if (sources_list(dir, kind, &list, &count, &err) < 0)
		add(text, err.text);
	for (i = 0; i < count; i++) {
		_cleanup_free_ char *path = source_path(dir, &list[i]);

		if (list[i].is_segment)
			check_segment(path, text);
	}
}

static int count_file(const struct dirtree_visit *visit, void *data)
{
	*(size_t *)data += S_ISREG(visit->st.st_mode);
	return 0;
}

/* Describes what was set apart in @idle because it cannot be repaired. */
static void check_set_apart(const char *idle, struct strbuf *text)
{
	_cleanup_close_ int fd = open(idle, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	size_t count = 0;

	if (fd >= 0)
		(void)dirtree_walk(fd, IDLE_DAMAGED, count_file, &count, NULL);
	if (count)
		strbuf_addf(text, "%s%s/" IDLE_DAMAGED ": %zu files, whose samples are lost",
			    text->length ? "; " : "", idle, count);
}

char *history_check(const char *samples, const struct history_kind *kind)
{
	_cleanup_free_ char *dir = path_join(samples, kind->directory);
	_cleanup_free_ char *idle = path_join(samples, SESSION_IDLE);
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	uint32_t last;
	int r;

	check_directory(dir, kind, &text);
	if (kind == &history_flat) {
		check_directory(idle, kind, &text);
		check_set_apart(idle, &text);
	}
	r = kind->to_sum ? sources_sum(dir, &last, &err) : 0;
	if (r < 0)
		add(&text, err.text);
	if (r > 0) {
		_cleanup_free_ char *path = source_sum_path(dir, last);

		check_segment(path, &text);
	}
	return text.length ? strbuf_take(&text) : NULL;
}
