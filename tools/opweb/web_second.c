/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_second.h"

#include "base/mem.h"
#include "file/path.h"
#include "profile/select/gather.h"
#include "sfile/session.h"
#include "tools/opweb/web_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a name must not have: a specification takes lists and patterns. */
static const char special[] = ",*?[]\\{}~";

/* A page offers so many sessions, and says how many more there are. */
enum { SESSIONS_MAX = 200 };

char *web_second_session(const char *question)
{
	size_t length = strlen(WEB_SESSION_PREFIX);

	if (strncmp(question, WEB_SESSION_PREFIX, length) != 0)
		return NULL;
	return xstrndup(question + length, strcspn(question + length, "/"));
}

static bool is_plain(const char *name)
{
	return session_name_valid(name) && !strpbrk(name, special);
}

static bool is_replaced(const char *word)
{
	static const char *const tags[] = { "session:", "session-exclude:", "time:" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tags); i++)
		if (!strncmp(word, tags[i], strlen(tags[i])))
			return true;
	return false;
}

char **web_second_words(char *const *words, const char *session, struct error *err)
{
	size_t count = 0, i;
	char **all;

	if (!is_plain(session)) {
		(void)error_set(err, -EINVAL, "'%s' is no session that a page can name", session);
		return NULL;
	}
	while (words[count])
		count++;
	all = xcalloc(count + 2, sizeof(*all));
	for (i = count = 0; words[i]; i++)
		if (!is_replaced(words[i]))
			all[count++] = xstrdup(words[i]);
	all[count] = xasprintf("session:%s", session);
	return all;
}

/* --- which there are --- */

struct names {
	const struct gather *gather;
	const char *session_dir;
	char **list; /* ends with NULL */
	size_t count, room;
};

static int add_name(const char *name, void *data)
{
	struct names *names = data;
	size_t i;

	for (i = 0; i < names->gather->session_count; i++)
		if (!strcmp(names->gather->sessions[i].name, name))
			return 0;
	if (!is_plain(name) || !session_exists(names->session_dir, name))
		return 0;
	array_grow(&names->list, names->count + 2, &names->room);
	names->list[names->count++] = xstrdup(name);
	names->list[names->count] = NULL;
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **web_second_sessions(const struct gather *g, size_t *ret_more)
{
	_cleanup_free_ char *samples = xstrdup(g->sessions[0].samples);
	struct names names = { .gather = g, .session_dir = samples };
	struct error ignored = ERROR_INIT;
	char *slash = strrchr(samples, '/');

	*ret_more = 0;
	array_grow(&names.list, 1, &names.room);
	names.list[0] = NULL;

	/* DIR/samples/NAME; a session may be any other directory, too. */
	if (slash)
		*slash = '\0';
	slash = slash ? strrchr(samples, '/') : NULL;
	if (!slash || strcmp(slash, "/samples") != 0)
		return names.list;
	*slash = '\0';
	(void)session_list(samples, add_name, &names, &ignored);
	qsort(names.list, names.count, sizeof(*names.list), by_text);
	while (names.count > SESSIONS_MAX) {
		free(names.list[--names.count]);
		names.list[names.count] = NULL;
		++*ret_more;
	}
	return names.list;
}
