/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/source_function.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "profile/binary/sources.h"
#include "symbol/short_name.h"
#include "symbol/smartname.h"

#include <ctype.h>
#include <string.h>

static const char operator_word[] = "operator";
enum { OPERATOR_LENGTH = sizeof(operator_word) - 1 };

/* --- names --- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Whether the last part of a name is a number or one of Go's for a function without a name. */
static bool is_unnamed(const char *part)
{
	static const char *const prefixes[] = { "func", "gowrap", "deferwrap", "" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if (!strncmp(part, prefixes[i], n) && part[n] &&
		    strspn(part + n, "0123456789-") == strlen(part + n))
			return true;
	}
	return false;
}

static void cut_at(char *name, const char *part)
{
	char *at = strstr(name, part);

	if (at)
		*at = '\0';
}

/* Cuts what compilers add: "work.part.0", "work [clone .cold]", "work[abi:cxx11]", and what is in a
 * function: "work::{lambda(int)#1}::operator()", "main.work.func1". The names of Go's functions
 * have dots themselves, after a path. */
static void cut_suffix(char *name)
{
	static const char *const added[] = { " [clone", "[abi:",     ".part.", ".constprop.",
					     ".isra.",	".cold",     "@plt",   ".lto_priv.",
					     ".llvm.",	"._omp_fn.", "::{",    "::$_" };
	char *dot;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(added); i++)
		cut_at(name, added[i]);
	while ((dot = strrchr(name, '.')) && is_unnamed(dot + 1))
		*dot = '\0';
}

/* The operator that a name ends with, as source_function_next() takes it: "operator+", "operator
 * new"; "operator " of one that converts, since sources may call its type by another name. NULL if
 * it ends with none; caller frees. */
static char *operator_name(const char *name)
{
	const char *at, *sign;

	for (at = name; (at = strstr(at, operator_word)); at = sign) {
		sign = at + OPERATOR_LENGTH;
		if ((at > name && is_word(at[-1])) || !*sign)
			continue;
		if (!strncmp(sign, " new", 4) && !is_word(sign[4]))
			return xstrdup("operator new");
		if (!strncmp(sign, " delete", 7) && !is_word(sign[7]))
			return xstrdup("operator delete");
		if (*sign == ' ')
			return xstrdup("operator ");
		if (!sign[strspn(sign, "+-*/%^&|~!=<>,()[]")])
			return xstrdup(at);
	}
	return NULL;
}

char *source_function_word(const char *name)
{
	static const struct name_style style = { .bare = true };
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	char *all, *end, *start;

	if (!name_style_add(&style, &text, name)) {
		strbuf_adds(&text, name);
		short_name_bare(&text, 0); /* inlined functions may be named as in the source */
	}
	all = text.text;
	if (!all)
		return NULL;
	cut_suffix(all);
	start = operator_name(all);
	if (start)
		return start;
	for (end = all + strlen(all); end > all && !is_word(end[-1]); end--)
		;
	for (start = end; start > all && is_word(start[-1]); start--)
		;
	return start < end && !isdigit((unsigned char)*start)
		       ? xstrndup(start, (size_t)(end - start))
		       : NULL;
}

/* --- extents --- */

/* Where the line has the word @word at or after @at; @size: nowhere. */
static size_t find_word(const char *line, size_t size, size_t at, const char *word)
{
	size_t n = strlen(word);

	for (; at + n <= size; at++)
		if (!memcmp(line + at, word, n) && (at == 0 || !is_word(line[at - 1])) &&
		    (at + n == size || !is_word(line[at + n])))
			return at;
	return size;
}

/* Whether @at is the sign of an operator, and not part of a longer one. */
static bool is_sign(const char *at, size_t size, const char *sign)
{
	const size_t n = strlen(sign);
	const char next = size > n ? at[n] : '\0';

	if (size < n || memcmp(at, sign, n) != 0)
		return false;
	if (is_word(*sign))
		return !is_word(next);
	if (next == '<' || next == '*') /* arguments of a template may follow */
		return strcmp(sign, next == '<' ? "<" : "->") != 0;
	return !next || !strchr("+-&|=>", next);
}

/* Whether the line has an operator with @sign; a blank: one that converts to some type. */
static bool has_operator(const char *line, size_t size, const char *sign)
{
	size_t at = 0;

	for (sign += *sign == ' ';;) {
		at = find_word(line, size, at, operator_word);
		if (at == size)
			return false;
		for (at += OPERATOR_LENGTH; at < size && (line[at] == ' ' || line[at] == '\t');)
			at++;
		if (*sign ? is_sign(line + at, size - at, sign) : at < size && is_word(line[at]))
			return true;
	}
}

/* Whether the line has a name of source_function_word(). */
static bool has_name(const char *line, size_t size, const char *name)
{
	const bool is_operator = !strncmp(name, operator_word, OPERATOR_LENGTH) &&
				 name[OPERATOR_LENGTH] && !is_word(name[OPERATOR_LENGTH]);

	return is_operator ? has_operator(line, size, name + OPERATOR_LENGTH)
			   : find_word(line, size, 0, name) < size;
}

/* The columns before the first character that is no blank. */
static size_t indent_of(const char *line, size_t size)
{
	size_t i, columns = 0;

	for (i = 0; i < size && (line[i] == ' ' || line[i] == '\t'); i++)
		columns = line[i] == ' ' ? columns + 1 : (columns / 8 + 1) * 8;
	return i < size ? columns : SIZE_MAX;
}

static bool begins_with_brace(const char *line, size_t size)
{
	size_t i = 0;

	while (i < size && (line[i] == ' ' || line[i] == '\t'))
		i++;
	return i < size && line[i] == '}';
}

/* What was read of a block or statement. */
struct reading {
	int braces, brackets;
	bool has_block, in_comment, is_over;
};

/* The length of a string or character constant at @at, or 1. */
static size_t constant_length(const char *at, size_t size)
{
	size_t most = *at == '\'' ? 4 : size, i;

	for (i = 1; i < size && i < most; i++) {
		if (at[i] == *at)
			return i + 1;
		i += at[i] == '\\';
	}
	return 1;
}

static void read_character(struct reading *r, char c)
{
	if (c == '{') {
		r->braces++;
		r->has_block = true;
	} else if (c == '}') {
		r->braces--;
	} else if (c == '(') {
		r->brackets++;
	} else if (c == ')') {
		r->brackets--;
	}
	r->is_over = r->braces < 0 || (r->has_block && r->braces == 0) ||
		     (c == ';' && !r->has_block && r->brackets <= 0);
}

static void read_line(struct reading *r, const char *line, size_t size)
{
	size_t i;

	for (i = 0; i < size && !r->is_over; i++) {
		bool has_next = i + 1 < size;

		if (r->in_comment) {
			r->in_comment = !(line[i] == '*' && has_next && line[i + 1] == '/');
			i += !r->in_comment;
		} else if (line[i] == '/' && has_next && line[i + 1] == '/') {
			return;
		} else if (line[i] == '/' && has_next && line[i + 1] == '*') {
			r->in_comment = true;
			i++;
		} else if (line[i] == '"' || line[i] == '\'') {
			i += constant_length(line + i, size - i) - 1;
		} else {
			read_character(r, line[i]);
		}
	}
}

/* The last line of the block or statement at line @first. */
static size_t end_of(const struct sourcetext *text, size_t first)
{
	struct reading r = { 0 };
	size_t size, at, indent = SIZE_MAX;
	const char *line;

	for (at = first; sourcetext_line(text, at, &line, &size); at++) {
		if (at == first)
			indent = indent_of(line, size);
		else if (begins_with_brace(line, size) && indent_of(line, size) <= indent)
			return at;
		read_line(&r, line, size);
		if (r.is_over)
			return at;
	}
	return at - 1;
}

bool source_function_next(const struct sourcetext *text, const char *word, struct source_extent *e)
{
	size_t at, size;
	const char *line;

	for (at = e->first + 1; sourcetext_line(text, at, &line, &size); at++) {
		if (!has_name(line, size, word))
			continue;
		*e = (struct source_extent){ at, end_of(text, at) };
		return true;
	}
	return false;
}
