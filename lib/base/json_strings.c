/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json_strings.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { DEPTH_MAX = 32 };

struct walk {
	const char *at, *end;
	unsigned int depth;
	struct strbuf keys[DEPTH_MAX + 1]; /* the last key at each depth */
	struct strbuf text;		   /* the last string */
};

/* Takes the character after a backslash. */
static void take_escape(struct walk *w)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *known = memchr(from, *w->at, strlen(from));

	if (*w->at == 'u') {
		size_t digits = MIN((size_t)(w->end - w->at - 1), (size_t)4);

		strbuf_adds(&w->text, "?");
		w->at += 1 + digits;
		return;
	}
	strbuf_add(&w->text, known ? &to[known - from] : w->at, 1);
	w->at++;
}

/* Takes a string, after its first quote, into ->text. */
static int take_string(struct walk *w)
{
	strbuf_cut(&w->text, 0);
	while (w->at < w->end && *w->at != '"') {
		if (*w->at == '\\' && w->at + 1 < w->end) {
			w->at++;
			take_escape(w);
			continue;
		}
		strbuf_add(&w->text, *w->at && !(*w->at & 0x80) ? w->at : "?", 1);
		w->at++;
	}
	if (w->at == w->end)
		return -EBADMSG;
	w->at++;
	return 0;
}

/* Returns whether the last string is a key. */
static bool is_key(struct walk *w)
{
	while (w->at < w->end && strchr(" \t\r\n", *w->at) && *w->at)
		w->at++;
	return w->at < w->end && *w->at == ':';
}

/* Goes into an object or list. */
static int enter(struct walk *w, bool is_list)
{
	const struct strbuf *outer = &w->keys[w->depth];

	if (w->depth == DEPTH_MAX)
		return -EBADMSG;
	strbuf_cut(&w->keys[++w->depth], 0);
	if (is_list)
		strbuf_adds(&w->keys[w->depth], strbuf_text(outer));
	return 0;
}

static int step(struct walk *w, int (*take)(const struct json_string *s, void *data), void *data)
{
	struct strbuf *key = &w->keys[w->depth];
	struct json_string s;
	char c = *w->at++;

	if (c == '{' || c == '[')
		return enter(w, c == '[');
	if (c == '}' || c == ']')
		return w->depth-- ? 0 : -EBADMSG;
	if (c != '"')
		return 0;
	if (take_string(w) < 0)
		return -EBADMSG;
	if (is_key(w)) {
		strbuf_cut(key, 0);
		strbuf_adds(key, strbuf_text(&w->text));
		return 0;
	}
	s = (struct json_string){ w->depth, strbuf_text(key), strbuf_text(&w->text) };
	return take(&s, data);
}

int json_strings(const char *text, size_t size,
		 int (*take)(const struct json_string *s, void *data), void *data)
{
	struct walk w = { .at = text, .end = text + size };
	int r = 0;

	while (r == 0 && w.at < w.end)
		r = step(&w, take, data);
	if (r == 0 && w.depth)
		r = -EBADMSG;
	for (size_t i = 0; i < ARRAY_SIZE(w.keys); i++)
		strbuf_done(&w.keys[i]);
	strbuf_done(&w.text);
	return r;
}
