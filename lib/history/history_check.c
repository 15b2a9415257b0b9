/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/history_check.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
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

struct findings {
	struct strbuf text;
	struct error *err; /* the first thing that could not be read */
};

static void add(struct strbuf *text, const char *wrong)
{
	strbuf_addf(text, "%s%s", text->length ? "; " : "", wrong);
}

/* Whether a file is damaged, or another kind of file is in its place. */
static bool is_damage(int code)
{
	return code == -EBADMSG || code == -EMEDIUMTYPE || code == -EISDIR || code == -ENOTDIR ||
	       code == -ELOOP;
}

/* Adds what is wrong with a file or a directory, if anything is. */
static void note(struct findings *f, const struct error *why)
{
	if (is_damage(why->code))
		add(&f->text, why->text);
	else if (why->code && why->code != -ENOENT && f->err &&
		 !f->err->code) /* deleted meanwhile */
		*f->err = *why;
}

static void check_segment(const char *path, struct findings *f)
{
	_cleanup_(segment_freep) struct segment *s = NULL;
	struct error err = ERROR_INIT;

	if (segment_open(path, &s, &err) == 0)
		(void)segment_check(s, &err);
	note(f, &err);
}

/* Checks the segments in @dir. */
static void check_directory(const char *dir, const struct history_kind *kind, struct findings *f)
{
	_cleanup_free_ struct history_source *list = NULL;
	struct error err = ERROR_INIT;
	size_t count = 0, i;

	(void)sources_list(dir, kind, &list, &count, &err);
	note(f, &err);
	for (i = 0; i < count; i++) {
		_cleanup_free_ char *path = source_path(dir, &list[i]);

		if (list[i].is_segment)
			check_segment(path, f);
	}
}

static int count_file(const struct dirtree_visit *visit, void *data)
{
	*(size_t *)data += S_ISREG(visit->st.st_mode);
	return visit->error;
}

/* Describes what was set apart in @idle because it cannot be repaired. */
static void check_set_apart(const char *idle, struct findings *f)
{
	_cleanup_close_ int fd = open(idle, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	struct error err = ERROR_INIT;
	size_t count = 0;
	int r = fd < 0 ? -errno : dirtree_walk(fd, IDLE_DAMAGED, count_file, &count, NULL);

	if (r < 0)
		(void)error_errno(&err, r, "%s/" IDLE_DAMAGED, idle);
	note(f, &err);
	if (!count)
		return;
	text = xasprintf("%s/" IDLE_DAMAGED ": %zu file%s, whose samples are lost", idle, count,
			 text_plural(count));
	add(&f->text, text);
}

char *history_check(const char *samples, const struct history_kind *kind, struct error *err)
{
	_cleanup_free_ char *dir = path_join(samples, kind->directory);
	_cleanup_free_ char *idle = path_join(samples, SESSION_IDLE);
	struct findings f = { STRBUF_INIT, err };
	struct error why = ERROR_INIT;
	uint32_t last;
	int r;

	check_directory(dir, kind, &f);
	if (kind == &history_flat) {
		check_directory(idle, kind, &f);
		check_set_apart(idle, &f);
	}
	r = kind->to_sum ? sources_sum(dir, &last, &why) : 0;
	note(&f, &why);
	if (r > 0) {
		_cleanup_free_ char *path = source_sum_path(dir, last);

		check_segment(path, &f);
	}
	return f.text.length ? strbuf_take(&f.text) : NULL;
}
