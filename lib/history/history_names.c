/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/history_names.h"

#include "base/macro.h"
#include "base/mem.h"
#include "file/path.h"
#include "history/history_kind.h"
#include "history/history_name.h"
#include "history/internal/generations.h"
#include "history/history_source.h"
#include "history/segment.h"
#include "sfile/session.h"

#include <errno.h>
#include <stdlib.h>

struct visit {
	void (*each)(const struct sname *name, void *data);
	void *data;
};

/* Parses the line in place. */
static void visit_line(char *line, size_t bytes _unused_, void *data)
{
	const struct visit *v = data;
	struct history_name name;
	char *path;

	if (!line || generation_parse_name(line, &name, &path) < 0)
		return;
	v->each(&name.name, v->data);
	sname_done(&name.name);
}

static int visit_segment(const char *path, struct visit *v)
{
	_cleanup_(segment_freep) struct segment *s = NULL;
	int r = segment_open(path, &s, NULL);
	uint32_t i;

	if (r == 0)
		r = segment_load(s, NULL);
	for (i = 1; r == 0 && i <= segment_about(s)->lines; i++) {
		_cleanup_free_ char *line = xstrdup(segment_line(s, i));

		visit_line(line, 0, v);
	}
	return r == -EBADMSG || r == -EFBIG ? 0 : r;
}

static int visit_directory(const char *samples, const char *below, struct visit *v)
{
	_cleanup_free_ char *dir = path_join(samples, below);
	_cleanup_free_ struct history_source *list = NULL;
	size_t count = 0, i;
	int r = sources_list(dir, &history_flat, &list, &count, NULL);

	for (i = 0; r == 0 && i < count; i++) {
		_cleanup_free_ char *path = list[i].is_segment
						    ? source_path(dir, &list[i])
						    : generation_names_path(dir, list[i].first);

		if (list[i].is_segment)
			r = visit_segment(path, v);
		else
			r = generation_each_line(path, visit_line, v);
		/* Without its names, nothing can be said of a generation. */
		if (r == -ENOENT)
			r = 0;
	}
	return r;
}

int history_each_name(const char *samples, void (*each)(const struct sname *name, void *data),
		      void *data)
{
	struct visit v = { each, data };
	int r = visit_directory(samples, HISTORY_DIRECTORY, &v);

	return r < 0 ? r : visit_directory(samples, SESSION_IDLE, &v);
}
