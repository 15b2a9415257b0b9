/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/gather.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "history/history.h"
#include "sfile/session.h"
#include "sfile/setup.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct candidate {
	char *name;
	int64_t written_ms; /* when a file of its history was made last */
};

/* The sessions next to one that was selected. */
struct candidates {
	const struct spec *spec;
	const char *dir, *own; /* of the sessions; the name of the one that was selected */
	struct candidate *list;
	size_t count, room;
};

static int add_candidate(const char *name, void *data)
{
	struct candidates *c = data;
	_cleanup_free_ char *samples = path_join(c->dir, name);
	_cleanup_free_ char *history = path_join(samples, HISTORY_DIRECTORY);
	struct stat st;

	if (!strcmp(name, c->own) || spec_excludes_session(c->spec, name) || stat(history, &st) < 0)
		return 0;
	array_grow(&c->list, c->count + 1, &c->room);
	c->list[c->count++] = (struct candidate){ xstrdup(name), (int64_t)st.st_mtime * 1000 };
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->written_ms != y->written_ms)
		return (x->written_ms > y->written_ms) - (x->written_ms < y->written_ms);
	return strcmp(x->name, y->name);
}

/* The first of at most @most candidates, by time, to look into. A session that is over had its last
 * file made after the window begins, or is the last one before that. */
static size_t first_to_open(const struct candidates *c, const struct window *window, size_t most)
{
	size_t i = 0;

	if (c->count <= most)
		return 0;
	while (i < c->count && c->list[i].written_ms < window->begin_ms)
		i++;
	return MIN(i ? i - 1 : 0, c->count - most);
}

static bool has_samples(const char *samples, const struct window *window)
{
	_cleanup_(history_freep) struct history *h = NULL;
	const struct history_wanted covers = { .window = window, .covers_only = true };
	struct window span;

	return history_span(samples, window, &span, NULL) == 0 &&
	       history_read_wanted(samples, &covers, &h, NULL) == 0 && history_covers(h)->samples;
}

/* Whether the session is of a wanted host. @host is that of a setup that names none, or NULL. */
static bool is_of_host(const struct spec *spec, const char *samples, const char *host)
{
	struct setup setup = { 0 };
	bool wanted = !spec_value(spec, SPEC_HOST);

	if (!wanted && setup_read(samples, &setup, NULL) == 0)
		wanted = spec_wants_host(spec, setup.hostname ?: host);
	setup_done(&setup);
	return wanted;
}

static void add_other(struct gather *g, const char *name)
{
	size_t i;

	for (i = 0; i < g->other_count; i++)
		if (!strcmp(g->others[i], name))
			return;
	array_grow(&g->others, g->other_count + 1, &g->other_room);
	g->others[g->other_count++] = arena_strdup(&g->arena, name);
}

static void find_next_to(struct gather *g, const struct gather_session *s, const struct spec *spec,
			 const struct window *window)
{
	enum { MOST = 8 };
	const char *own = path_base(s->samples);
	const char *host = s->archive ? path_base(s->archive) : NULL;
	_cleanup_free_ char *dir = xstrndup(s->samples, (size_t)(own - s->samples));
	_cleanup_free_ char *session_dir = path_join(dir, "..");
	struct candidates c = { .spec = spec, .dir = dir, .own = own };
	size_t i, first;

	(void)session_list(session_dir, add_candidate, &c, NULL);
	if (c.count)
		qsort(c.list, c.count, sizeof(*c.list), by_time);
	first = first_to_open(&c, window, MOST);
	for (i = first; i < c.count && i < first + MOST; i++) {
		_cleanup_free_ char *samples = path_join(dir, c.list[i].name);

		if (is_of_host(spec, samples, host) && has_samples(samples, window))
			add_other(g, c.list[i].name);
	}
	for (i = 0; i < c.count; i++)
		free(c.list[i].name);
	free(c.list);
}

static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

void gather_find_others(struct gather *g, const struct spec *spec, const struct window *window)
{
	size_t i;

	for (i = 0; i < g->session_count; i++)
		find_next_to(g, &g->sessions[i], spec, window);
	if (g->other_count)
		qsort(g->others, g->other_count, sizeof(*g->others), by_name);
}

/* Whether the session number @i is one of the others, or has the name of one before it. */
static bool is_named(const struct gather *g, size_t i)
{
	const char *name = g->sessions[i].name;
	size_t k;

	for (k = 0; k < g->other_count; k++)
		if (!strcmp(g->others[k], name))
			return true;
	for (k = 0; k < i; k++)
		if (!strcmp(g->sessions[k].name, name))
			return true;
	return false;
}

/* Adds a name to a list, as it is written in a specification. */
static void add_to_list(struct strbuf *list, const char *name)
{
	if (list->length)
		strbuf_adds(list, ",");
	for (; *name; name++)
		strbuf_addf(list, "%s%c", *name == ',' ? "\\" : "", *name);
}

char *gather_others_text(const struct gather *g, bool own)
{
	struct strbuf text = STRBUF_INIT;
	size_t i;

	for (i = 0; i < g->other_count; i++)
		add_to_list(&text, g->others[i]);
	for (i = 0; own && i < g->session_count; i++)
		if (!is_named(g, i))
			add_to_list(&text, g->sessions[i].name);
	return strbuf_take(&text);
}
