/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/optop/collect.h"

#include "base/macro.h"
#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const struct {
	const char *name, *heading;
} views[] = {
#define X(view, name, heading) { name, heading },
	COLLECT_VIEWS(X)
#undef X
};

int collect_view_parse(const char *name, struct error *err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(views) && *name; i++)
		if (!strncmp(views[i].name, name, strlen(name)))
			return (int)i;
	return error_set(err, -EINVAL,
			 "--view: '%s' is not one of functions, images, apps, cgroups, "
			 "threads, off-cpu",
			 name);
}

const char *collect_view_name(enum collect_view view)
{
	return views[view].name;
}

const char *collect_view_heading(enum collect_view view)
{
	return views[view].heading;
}

bool collect_view_has_functions(enum collect_view view)
{
	return view == COLLECT_FUNCTIONS || view == COLLECT_OFF_CPU;
}

char *collect_view_word(enum collect_view view)
{
	static char off_cpu[] = "event:OFFCPU";

	return view == COLLECT_OFF_CPU ? off_cpu : NULL;
}

size_t collect_replace_event(char *const *words, size_t count, char *event, char **to)
{
	size_t i, used = 0;

	for (i = 0; i < count; i++)
		if (!event || strncmp(words[i], "event:", strlen("event:")) != 0)
			to[used++] = words[i];
	if (event)
		to[used++] = event;
	return used;
}

char **collect_words(const struct question *q, char *ret_made[2])
{
	char **words = xcalloc(q->count + 3, sizeof(*words));
	const char *of_view = collect_view_word(q->view);
	size_t used;

	ret_made[0] = of_view	 ? xstrdup(of_view)
		      : q->event ? xasprintf("event:%s", q->event)
				 : NULL;
	ret_made[1] = q->window_ms ? xasprintf("time:-%" PRId64 "s", q->window_ms / 1000) : NULL;
	used = collect_replace_event(q->words, q->count, ret_made[0], words);
	words[used] = ret_made[1];
	return words;
}
