/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/patterns.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"

#include <fnmatch.h>
#include <string.h>

static void add_one(struct patterns *p, struct strbuf *text)
{
	if (text->length == 0)
		return;
	array_grow(&p->list, p->count + 1, &p->room);
	p->list[p->count++] = strbuf_take(text);
}

void patterns_add(struct patterns *p, const char *text)
{
	_cleanup_(strbuf_done) struct strbuf part = STRBUF_INIT;

	for (; *text; text++) {
		if (*text == ',') {
			add_one(p, &part);
			continue;
		}
		if (text[0] == '\\' && text[1] == ',')
			text++;
		strbuf_add(&part, text, 1);
	}
	add_one(p, &part);
}

bool pattern_match(const char *pattern, const char *name)
{
	return !strcmp(pattern, name) || fnmatch(pattern, name, 0) == 0;
}

bool pattern_match_path(const char *pattern, const char *path)
{
	return pattern_match(pattern, strchr(pattern, '/') ? path : path_base(path));
}

bool patterns_match_path(const struct patterns *p, const char *path)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		if (pattern_match_path(p->list[i], path))
			return true;
	return false;
}

void patterns_done(struct patterns *p)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		free(p->list[i]);
	free(p->list);
	*p = (struct patterns){ 0 };
}
