/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/spec.h"

#include "base/mem.h"
#include "file/path.h"
#include "sfile/session.h"

#include <fnmatch.h>
#include <string.h>

/* The values with patterns, and without. */
struct expansion {
	struct spec_values *to;
	const char *pattern;
	bool is_found;
};

static void add_name(struct spec_values *to, const char *name)
{
	size_t i;

	for (i = 0; i < to->count; i++)
		if (!strcmp(to->values[i], name))
			return;
	array_grow(&to->values, to->count + 1, &to->room);
	to->values[to->count++] = xstrdup(name);
}

static int add_match(const char *name, void *data)
{
	struct expansion *e = data;

	if (fnmatch(e->pattern, name, 0) == 0) {
		add_name(e->to, name);
		e->is_found = true;
	}
	return 0;
}

static void add_matches(const struct spec *spec, const char *session_dir, struct expansion *e)
{
	const struct spec_values *archives = &spec->of[SPEC_ARCHIVE];
	size_t i;

	if (!archives->count)
		(void)session_list(session_dir, add_match, e, NULL);
	for (i = 0; i < archives->count; i++) {
		_cleanup_free_ char *directory = path_under(archives->values[i], session_dir);

		(void)session_list(directory, add_match, e, NULL);
	}
}

void spec_expand_sessions(struct spec *spec, const char *session_dir)
{
	struct spec_values *from = &spec->of[SPEC_SESSION], to = { 0 };
	size_t i;

	for (i = 0; i < from->count; i++) {
		struct expansion e = { &to, from->values[i], false };

		if (strpbrk(from->values[i], "*?[") && !spec_session_is_path(from->values[i]))
			add_matches(spec, session_dir, &e);
		if (!e.is_found)
			add_name(&to, from->values[i]);
	}
	for (i = 0; i < from->count; i++)
		free(from->values[i]);
	free(from->values);
	from->values = to.values;
	from->count = to.count;
	from->room = to.room;
}

/* Whether @path is one of the @count paths, of which NULL is none. */
static bool is_among(char *const *paths, size_t count, const char *path)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (paths[i] && !strcmp(paths[i], path))
			return true;
	return false;
}

void spec_drop_repeated(struct spec *spec)
{
	struct spec_values *archives = &spec->of[SPEC_ARCHIVE];
	char **real = xcalloc(archives->count + 1, sizeof(*real));
	size_t i, n = 0;

	for (i = 0; i < archives->count; i++) {
		real[n] = xrealpath(archives->values[i]);
		if (real[n] && is_among(real, n, real[n])) {
			free(real[n]);
			free(archives->values[i]);
			continue;
		}
		archives->values[n++] = archives->values[i];
	}
	archives->count = n;
	for (i = 0; i < n; i++)
		free(real[i]);
	free(real);
}

/* Whether @text, or NULL if it is not known, is one of @wanted, which may be patterns; if there are
 * none, all are wanted. */
static bool is_one_of(const struct spec_values *wanted, const char *text)
{
	bool any = wanted->count == 0;
	size_t i;

	for (i = 0; i < wanted->count; i++) {
		if (strcmp(wanted->values[i], "all") != 0 &&
		    (!text || fnmatch(wanted->values[i], text, 0) != 0))
			continue;
		wanted->used[i] = true;
		any = true;
	}
	return any;
}

bool spec_wants_host(const struct spec *spec, const char *host)
{
	return is_one_of(&spec->of[SPEC_HOST], host);
}

bool spec_wants_comm(const struct spec *spec, const char *comm)
{
	return is_one_of(&spec->of[SPEC_COMM], comm);
}

bool spec_wants_all(const struct spec *spec)
{
	size_t i;

	for (i = SPEC_TIME + 1; i < SPEC_TAG_COUNT_; i++)
		if (spec->of[i].count)
			return false;
	return true;
}

bool spec_wants_session_dir(const struct spec *spec)
{
	const struct spec_values *sessions = &spec->of[SPEC_SESSION];
	size_t i;

	for (i = 0; i < sessions->count; i++)
		if (!spec_session_is_path(sessions->values[i]))
			return true;
	return sessions->count == 0;
}
