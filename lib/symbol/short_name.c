/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/short_name.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const char dots[] = "...";
static const char operator_word[] = "operator";
enum { OPERATOR_LENGTH = sizeof(operator_word) - 1 };

/* Whether the word "operator" is at @at, which is in @text. */
static bool is_operator(const char *text, const char *at)
{
	return !strncmp(at, operator_word, OPERATOR_LENGTH) &&
	       (at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_'));
}

/* Returns the length of "operator" and its sign at @at, whose brackets enclose nothing; else 0. The
 * longest sign counts, which arguments of a template may follow ("operator=<int>"). */
static size_t operator_length(const char *text, const char *at)
{
	static const char *const signs[] = { "<=>", "<<=", ">>=", "->*", "->", "<<", ">>",
					     "<=",  ">=",  "()",  "[]",	 "<",  ">" };
	size_t i;

	if (!is_operator(text, at))
		return 0;
	for (i = 0; i < ARRAY_SIZE(signs); i++)
		if (!strncmp(at + OPERATOR_LENGTH, signs[i], strlen(signs[i])))
			return OPERATOR_LENGTH + strlen(signs[i]);
	return OPERATOR_LENGTH;
}

/* Returns the first bracket at or after @at, or the end. */
static const char *next_bracket(const char *text, const char *at)
{
	size_t skip;

	for (; *at && !strchr("(<[{", *at); at += skip ?: 1)
		skip = operator_length(text, at);
	return at;
}

/* Returns the bracket that closes the one at @open, NULL if there is none. */
static const char *closing_bracket(const char *text, const char *open)
{
	const char *at = open;
	unsigned int depth = 0;
	size_t skip;

	for (; *at; at += skip ?: 1) {
		skip = operator_length(text, at);
		if (skip)
			continue;
		depth += strchr("(<[{", *at) != NULL;
		/* The arrow before a type closes nothing. */
		if (strchr(")>]}", *at) && !(*at == '>' && at[-1] == '-') && --depth == 0)
			return at;
	}
	return NULL;
}

/* Whether the brackets enclose what is left out as @kind: not "(anonymous namespace)", nor the type
 * that a name of Rust starts with. */
static bool is_left_out(const char *text, const char *open, const char *close, char kind)
{
	return *open == kind && open > text && close - open > (long)sizeof(dots) &&
	       !(kind == '(' && close[1] == ':');
}

/* Replaces by dots what brackets of @kind, not in others, enclose. */
static void leave_out(struct strbuf *b, size_t from, char kind)
{
	_cleanup_free_ char *text = xstrdup(strbuf_text(b) + from);
	const char *at = text, *open, *close;

	strbuf_cut(b, from);
	while (*(open = next_bracket(text, at)) && (close = closing_bracket(text, open))) {
		strbuf_add(b, at, (size_t)(open + 1 - at));
		if (is_left_out(text, open, close, kind))
			strbuf_adds(b, dots);
		else
			strbuf_add(b, open + 1, (size_t)(close - open - 1));
		at = close;
	}
	strbuf_adds(b, at);
}

/* Whether the blank follows a type that is returned: not that in "operator<< <char>", nor any in
 * "operator new" or "S::operator unsigned long". */
static bool follows_type(const char *text, const char *blank)
{
	const char *word = text;

	while ((word = memmem(word, (size_t)(blank - word), operator_word, OPERATOR_LENGTH))) {
		if (is_operator(text, word) && word[OPERATOR_LENGTH] == ' ')
			return false;
		word += OPERATOR_LENGTH;
	}
	return blank[1] != '<';
}

/* Removes the type that precedes the name of a function with parameters. */
static void remove_return_type(struct strbuf *b, size_t from)
{
	_cleanup_free_ char *text = xstrdup(strbuf_text(b) + from);
	const char *name = text, *at = text, *open, *close, *blank;

	while (*(open = next_bracket(text, at))) {
		for (; (blank = memchr(at, ' ', (size_t)(open - at))); at = blank + 1)
			name = follows_type(text, blank) ? blank + 1 : name;
		close = closing_bracket(text, open);
		if (!close)
			return;
		if (*open == '(' && close[1] != ':')
			break;
		at = close + 1;
	}
	if (*open != '(')
		return;
	strbuf_cut(b, from);
	strbuf_adds(b, name);
}

static bool fits(const struct strbuf *b, size_t from, unsigned int room)
{
	return text_width(strbuf_text(b) + from) <= room;
}

void short_name(struct strbuf *name, size_t from, unsigned int room)
{
	if (!fits(name, from, room))
		leave_out(name, from, '(');
	if (!fits(name, from, room))
		remove_return_type(name, from);
	if (!fits(name, from, room))
		leave_out(name, from, '<');
	text_cut(name, from, room);
}

/* Returns the length of a word at @at that may follow parameters; else 0. */
static size_t qualifier_length(const char *at)
{
	static const char *const words[] = { " const", " volatile", " &&", " &" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strncmp(at, words[i], strlen(words[i])))
			return strlen(words[i]);
	return 0;
}

/* Whether parameters or arguments of a template begin at @at: not "(anonymous namespace)", nor the
 * type that a name of Rust starts with, nor "(*T)" of Go, nor Java's ".<init>". */
static bool begins_arguments(const char *text, const char *at)
{
	if (at == text)
		return false;
	return *at == '<' ? at[-1] != '.' : *at == '(' && !strchr(".!:", at[-1]);
}

/* Returns the end of the arguments that begin at @at; NULL if they have none. */
static const char *end_of_arguments(const char *text, const char *at)
{
	const char *end = closing_bracket(text, at);
	size_t skip;

	if (!end)
		return NULL;
	for (end++; *at == '(' && (skip = qualifier_length(end));)
		end += skip;
	return end;
}

void short_name_bare(struct strbuf *name, size_t from)
{
	_cleanup_free_ char *text = NULL;
	const char *at, *end;
	size_t kept;

	remove_return_type(name, from);
	text = xstrdup(strbuf_text(name) + from);
	strbuf_cut(name, from);
	for (at = text; *at; at = end) {
		if (!begins_arguments(text, at)) {
			kept = operator_length(text, at) ?: 1;
			strbuf_add(name, at, kept);
			end = at + kept;
			continue;
		}
		/* The blank in "operator<< <char>". */
		if (name->length > from && name->text[name->length - 1] == ' ')
			strbuf_cut(name, name->length - 1);
		end = end_of_arguments(text, at);
		if (!end) {
			strbuf_adds(name, at);
			return;
		}
	}
}

/* Returns the end of the part of a name that begins at @at: an identifier, with arguments of a
 * template or without, a lambda, or "(anonymous namespace)". NULL if it is none of these. */
static const char *end_of_part(const char *at)
{
	static const char unnamed[] = "(anonymous namespace)";
	const char *close;

	if (!strncmp(at, unnamed, strlen(unnamed)))
		return at + strlen(unnamed);
	if (*at != '{') {
		at += *at == '~';
		if (!isalpha((unsigned char)*at) && *at != '_')
			return NULL;
		while (isalnum((unsigned char)*at) || *at == '_')
			at++;
		if (*at != '<')
			return at;
	}
	close = closing_bracket(at, at);
	return close ? close + 1 : NULL;
}

bool short_name_is_scoped(const char *name)
{
	const char *at = name;

	if (!strchr(name, '<') && !strstr(name, "::"))
		return false;
	for (;; at += 2) {
		if (is_operator(at, at))
			return true;
		at = end_of_part(at);
		if (!at || !*at)
			return at != NULL;
		if (strncmp(at, "::", 2) != 0)
			return false;
	}
}
