/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/internal/demangle_java.h"

#include "base/macro.h"
#include "base/strbuf.h"

#include <string.h>

static const char *const primitives[128] = {
	['B'] = "byte", ['C'] = "char",	 ['D'] = "double", ['F'] = "float",   ['I'] = "int",
	['J'] = "long", ['S'] = "short", ['V'] = "void",   ['Z'] = "boolean",
};

/* "Lpkg/Cls;" at *@at; moves *@at past it. */
static bool add_class(struct strbuf *out, const char **at)
{
	const char *end = **at == 'L' ? strchr(*at, ';') : NULL;
	const char *c;

	if (!end || end == *at + 1)
		return false;
	for (c = *at + 1; c < end; c++) {
		if (*c == '(' || *c == ')')
			return false;
		strbuf_add(out, *c == '/' ? "." : c, 1);
	}
	*at = end + 1;
	return true;
}

static bool add_type(struct strbuf *out, const char **at)
{
	size_t dimensions = strspn(*at, "[");
	unsigned char c;

	*at += dimensions;
	c = (unsigned char)**at;
	if (c < ARRAY_SIZE(primitives) && primitives[c]) {
		strbuf_adds(out, primitives[c]);
		(*at)++;
	} else if (!add_class(out, at)) {
		return false;
	}
	while (dimensions--)
		strbuf_adds(out, "[]");
	return true;
}

/* The parameters up to the closing parenthesis; moves *@at past it. */
static bool add_parameters(struct strbuf *out, const char **at)
{
	bool first = true;

	strbuf_adds(out, "(");
	for (; **at && **at != ')'; first = false) {
		if (!first)
			strbuf_adds(out, ", ");
		if (!add_type(out, at))
			return false;
	}
	strbuf_adds(out, ")");
	return *(*at)++ == ')';
}

bool demangle_java_add(struct strbuf *out, const char *name)
{
	_cleanup_(strbuf_done) struct strbuf method = STRBUF_INIT, type = STRBUF_INIT;
	const char *at = name, *open;

	if (name[0] != 'L' || !add_class(&method, &at) || !(open = strchr(at, '(')) || open == at)
		return false;
	strbuf_adds(&method, ".");
	strbuf_add(&method, at, (size_t)(open - at));
	at = open + 1;
	if (!add_parameters(&method, &at) || !add_type(&type, &at) || *at)
		return false;
	strbuf_addf(out, "%s %s", type.text, method.text);
	return true;
}
