/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/smartname.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "symbol/demangle.h"
#include "symbol/short_name.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Limit for the steps of a match, as names can be made that match slowly; beyond, a name stays as
 * it is. */
enum { STEPS_MAX = 50000, REPEATS_MAX = 8, VARIABLES = 10 };

struct smart_rule {
	char *pattern, *replacement;
	size_t literal; /* length of the pattern's start without variables and blanks */
};

struct smart_rules {
	struct smart_rule *rules;
	size_t count, room;
	bool starts[256]; /* a rule starts with this character */
};

void smart_rules_free(struct smart_rules *rules)
{
	size_t i;

	if (!rules)
		return;
	for (i = 0; i < rules->count; i++) {
		free(rules->rules[i].pattern);
		free(rules->rules[i].replacement);
	}
	free(rules->rules);
	free(rules);
}

/* --- matching --- */

struct match {
	struct {
		const char *start, *end;
	} variables[VARIABLES]; /* ->start NULL: not set yet */
	unsigned int steps;
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Skips a word; the brackets of operator<, operator-> and operator() are part of it. */
static const char *skip_word(const char *text)
{
	static const char *const operators[] = { "<=>", "<<=", ">>=", "->*", "->", "<<", ">>",
						 "<=",	">=",  "()",  "[]",  "<",  ">",	 "," };
	const char *end = text;
	size_t i;

	while (is_word(*end))
		end++;
	if (end - text != 8 || strncmp(text, "operator", 8))
		return end;
	for (i = 0; i < ARRAY_SIZE(operators); i++)
		if (!strncmp(end, operators[i], strlen(operators[i])))
			return end + strlen(operators[i]);
	return end;
}

/* The end of the smallest unit at @text: a word, a bracket with its content, or one other
 * character. NULL at the end of the surrounding bracket. */
static const char *skip_piece(const char *text)
{
	unsigned int depth = 0;

	do {
		if (is_word(*text)) {
			text = skip_word(text);
			continue;
		}
		if (*text == '\0' || (depth == 0 && strchr(">)]},", *text)))
			return NULL;
		if (text[0] == '-' && text[1] == '>')
			text++;
		else if (strchr("<([{", *text))
			depth++;
		else if (strchr(">)]}", *text))
			depth--;
		text++;
	} while (depth);
	return text;
}

static const char *match_from(struct match *m, const char *pattern, const char *text);

/* Tries every possible length of the variable's text, the shortest first. */
static const char *match_variable(struct match *m, const char *pattern, const char *text)
{
	size_t number = (size_t)(pattern[1] - '0');
	const char *start = m->variables[number].start, *at = text, *end;

	if (start) {
		size_t length = (size_t)(m->variables[number].end - start);

		return strncmp(text, start, length) ? NULL
						    : match_from(m, pattern + 2, text + length);
	}
	while ((at = skip_piece(at)) && ++m->steps < STEPS_MAX) {
		if (at[-1] == ' ')
			continue;
		m->variables[number].start = text;
		m->variables[number].end = at;
		end = match_from(m, pattern + 2, at);
		if (end)
			return end;
	}
	m->variables[number].start = NULL;
	return NULL;
}

/* The end of what @pattern matches at @text, or NULL. A blank matches any number of blanks, but at
 * least one between two words; before a closing bracket blanks are optional. */
static const char *match_from(struct match *m, const char *pattern, const char *text)
{
	for (; *pattern; pattern++) {
		if (*pattern == '$')
			return match_variable(m, pattern, text);
		if (*pattern != ' ') {
			while (*pattern == '>' && *text == ' ')
				text++;
			if (*text++ != *pattern)
				return NULL;
			continue;
		}
		if (*text != ' ' && is_word(pattern[1]) && pattern[1] != '$' && is_word(text[-1]))
			return NULL;
		while (*text == ' ')
			text++;
	}
	return is_word(pattern[-1]) && is_word(*text) ? NULL : text;
}

/* Replaces the text between @at and @end by the rule's right side; a blank that only kept two
 * closing brackets apart is removed. */
static void replace(struct strbuf *name, size_t at, const char *end, const struct smart_rule *rule,
		    const struct match *m)
{
	_cleanup_(strbuf_done) struct strbuf rest = STRBUF_INIT;
	const char *p;

	for (p = rule->replacement; *p; p++) {
		if (*p != '$') {
			strbuf_add(&rest, p, 1);
			continue;
		}
		p++;
		strbuf_add(&rest, m->variables[*p - '0'].start,
			   (size_t)(m->variables[*p - '0'].end - m->variables[*p - '0'].start));
	}
	if (rest.length && rest.text[rest.length - 1] != '>' && end[0] == ' ' && end[1] == '>')
		end++;
	strbuf_adds(&rest, end);
	strbuf_cut(name, at);
	strbuf_adds(name, strbuf_text(&rest));
}

/* Applies the first rule that matches at @at. */
static bool rewrite_at(const struct smart_rules *rules, struct strbuf *name, size_t at,
		       unsigned int *steps)
{
	size_t i;

	for (i = 0; i < rules->count; i++) {
		const struct smart_rule *rule = &rules->rules[i];
		struct match m = { .steps = *steps };
		const char *end;

		if (strncmp(name->text + at, rule->pattern, rule->literal))
			continue;
		end = match_from(&m, rule->pattern, name->text + at);
		*steps = m.steps;
		if (!end)
			continue;
		replace(name, at, end, rule, &m);
		return true;
	}
	return false;
}

/* Whether a name may start at @at: not within a word or after a scope. */
static bool is_start(const struct strbuf *name, size_t from, size_t at)
{
	char before = at > from ? name->text[at - 1] : ' ';

	return !is_word(name->text[at]) || !(is_word(before) || before == ':');
}

void smart_rules_apply(const struct smart_rules *rules, struct strbuf *name, size_t from)
{
	unsigned int steps = 0, repeats;
	size_t at;

	for (at = name->length; at-- > from && steps < STEPS_MAX;) {
		if (!rules->starts[(unsigned char)name->text[at]] || !is_start(name, from, at))
			continue;
		for (repeats = 0; repeats < REPEATS_MAX; repeats++)
			if (at >= name->length || !rewrite_at(rules, name, at, &steps))
				break;
	}
}

/* --- reading --- */

/* Strips blanks from both ends, in place. */
static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length && strchr(" \t\r", text[length - 1]))
		text[--length] = '\0';
	return text;
}

/* Notes in @seen which variables @text has; false if a dollar is followed by none. */
static bool find_variables(const char *text, bool seen[VARIABLES])
{
	const char *p;

	for (p = strchr(text, '$'); p; p = strchr(p + 1, '$')) {
		if (p[1] < '0' || p[1] > '9')
			return false;
		seen[p[1] - '0'] = true;
	}
	return true;
}

/* Why the two sides are not a valid rule, or NULL. */
static const char *find_mistake(const char *pattern, const char *replacement)
{
	bool given[VARIABLES] = { 0 }, used[VARIABLES] = { 0 };
	size_t i;

	if (!*pattern || *pattern == '$')
		return "a pattern must start with a letter";
	if (!find_variables(pattern, given) || !find_variables(replacement, used))
		return "$ is not followed by a digit";
	for (i = 0; i < VARIABLES; i++)
		if (used[i] && !given[i])
			return "the replacement uses a variable that the pattern does not define";
	return NULL;
}

static int add_rule(struct smart_rules *rules, char *line, const char *name, unsigned int number,
		    struct error *err)
{
	char *arrow, *pattern, *replacement;
	const char *mistake;

	line = trim(line);
	if (!*line || *line == '#')
		return 0;
	arrow = strstr(line, "=>");
	if (!arrow)
		return error_set(err, -EINVAL, "%s:%u: not PATTERN => REPLACEMENT", name, number);
	*arrow = '\0';
	pattern = trim(line);
	replacement = trim(arrow + 2);
	mistake = find_mistake(pattern, replacement);
	if (mistake)
		return error_set(err, -EINVAL, "%s:%u: %s", name, number, mistake);
	array_grow(&rules->rules, rules->count + 1, &rules->room);
	rules->rules[rules->count++] = (struct smart_rule){ .pattern = xstrdup(pattern),
							    .replacement = xstrdup(replacement),
							    .literal = strcspn(pattern, " $") };
	rules->starts[(unsigned char)*pattern] = true;
	return 0;
}

int smart_rules_parse(const char *text, const char *name, struct smart_rules **ret,
		      struct error *err)
{
	_cleanup_(smart_rules_freep) struct smart_rules *rules = xcalloc(1, sizeof(*rules));
	_cleanup_free_ char *copy = xstrdup(text);
	char *line, *rest = copy;
	unsigned int number = 0;

	while ((line = strsep(&rest, "\n"))) {
		int r = add_rule(rules, line, name, ++number, err);

		if (r < 0)
			return r;
	}
	*ret = STEAL(rules);
	return 0;
}

int smart_rules_load(const char *path, struct smart_rules **ret, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	_cleanup_fclose_ FILE *f = open_regular_stream(path);
	char block[4096];
	size_t n;

	if (!f)
		return error_set(err, -errno, "%s: %s", path, open_regular_why(-errno));
	while ((n = fread(block, 1, sizeof(block), f)) > 0)
		strbuf_add(&text, block, n);
	if (ferror(f))
		return error_errno(err, -EIO, "%s", path);
	return smart_rules_parse(strbuf_text(&text), path, ret, err);
}

char *smart_rules_path(void)
{
	static const char *const near[] = { "../share/oprofile", "../../data" };
	const char *given = getenv("OPROFILE_DEMANGLE_RULES");
	_cleanup_free_ char *exe = xrealpath("/proc/self/exe");
	size_t i;

	if (given && *given)
		return xstrdup(given);
	if (access("/etc/oprofile/demangle-rules", R_OK) == 0)
		return xstrdup("/etc/oprofile/demangle-rules");
	if (exe)
		*(char *)path_base(exe) = '\0';
	for (i = 0; exe && i < ARRAY_SIZE(near); i++) {
		_cleanup_free_ char *path = xasprintf("%s%s/demangle-rules", exe, near[i]);

		if (access(path, R_OK) == 0)
			return xrealpath(path) ?: STEAL(path);
	}
	return access(OPROFILE_RULES_INSTALLED, R_OK) == 0 ? xstrdup(OPROFILE_RULES_INSTALLED)
							   : NULL;
}

/* Whether it is a method of Java as demangle_method() writes it: "void Main.run(int, long)". */
static bool is_method(const char *name)
{
	size_t type = strcspn(name, " ("), method = name[type] == ' ' ? type + 1 : type;
	size_t open = method + strcspn(name + method, " (");

	return method > type && name[open] == '(' && memchr(name + method, '.', open - method) &&
	       strchr(name + open, ')') == name + strlen(name) - 1;
}

/* As demangle_add(), but adds what is readable already as it is, if it is to be shortened: a method
 * of Java, or a function of C++ that has a name only in debug information, as inlined ones do. */
static bool add_demangled(const struct name_style *style, struct strbuf *out, const char *name)
{
	const bool is_shortened = style->bare || style->rules;

	if (demangle_add(out, name))
		return true;
	if (!is_method(name) && !(is_shortened && short_name_is_scoped(name)))
		return false;
	strbuf_adds(out, name);
	return true;
}

bool name_style_add(const struct name_style *style, struct strbuf *out, const char *name)
{
	size_t from = out->length;

	if (style->mangled || !add_demangled(style, out, name))
		return false;
	if (style->bare)
		short_name_bare(out, from);
	if (style->rules)
		smart_rules_apply(style->rules, out, from);
	return true;
}
