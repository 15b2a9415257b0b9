/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/mem.h is left out on purpose: libiberty has functions of the same names. */
#include "symbol/demangle.h"

#include "base/strbuf.h"
#include "symbol/internal/demangle_java.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <string.h>

/* Limit for the result: each back reference to a type may double it, so that a short name could be
 * made to use up all memory. */
enum { D_REFERENCES_MAX = 16 };

/* D's mangling: _D and the length of the first name, or the program's start. */
static bool is_of_d(const char *name)
{
	return name[0] == '_' && name[1] == 'D' &&
	       ((name[2] >= '1' && name[2] <= '9') || !strncmp(name, "_Dmain", 6));
}

/* _Z: Itanium C++ and old Rust; _R: Rust v0; a second underscore before them on some systems. */
static bool looks_mangled(const char *name)
{
	if (is_of_d(name))
		return true;
	name += name[0] == '_' && name[1] == '_';
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* Rust v0 (_R), or the old mangling, which is valid C++ whose last name is a hash: 17h and 16
 * digits.
 */
static bool may_be_rust(const char *name)
{
	return name[1 + (name[1] == '_')] == 'R' || strstr(name, "17h");
}

static void take(const char *text, size_t size, void *out)
{
	strbuf_add(out, text, size);
}

static bool add_d(struct strbuf *out, const char *name)
{
	_cleanup_free_ char *text = NULL;
	unsigned int references = 0;
	const char *at;

	for (at = name; (at = strchr(at, 'Q')); at++)
		references++;
	if (references <= D_REFERENCES_MAX)
		text = dlang_demangle(name, DMGL_DLANG);
	if (!text)
		return false;
	strbuf_adds(out, text);
	return true;
}

/* Rust first, since old Rust names are valid C++, too. */
static bool add_stem(struct strbuf *out, const char *name)
{
	enum { OPTIONS = DMGL_PARAMS | DMGL_ANSI };
	size_t before = out->length;

	if (is_of_d(name))
		return add_d(out, name);
	if (may_be_rust(name) && rust_demangle_callback(name, OPTIONS, take, out))
		return true;
	strbuf_cut(out, before);
	if (cplus_demangle_v3_callback(name, OPTIONS, take, out))
		return true;
	strbuf_cut(out, before);
	return false;
}

/* Go's compiler escapes dots in the last part of a package's path: gopkg.in/yaml%2ev3.Marshal. */
static bool add_go(struct strbuf *out, const char *name)
{
	static const char escape[] = "%2e";
	const char *next = strstr(name, escape);

	if (!next)
		return false;
	for (; next; next = strstr(name, escape)) {
		strbuf_add(out, name, (size_t)(next - name));
		strbuf_adds(out, ".");
		name = next + strlen(escape);
	}
	strbuf_adds(out, name);
	return true;
}

bool demangle_add(struct strbuf *out, const char *name)
{
	_cleanup_free_ char *stem = NULL;
	const char *cut;

	if (!looks_mangled(name))
		return add_go(out, name) || demangle_java_add(out, name);
	cut = strchr(name, '@');
	if (!cut)
		return add_stem(out, name);
	/* libiberty knows .isra.0 and .cold, but neither @plt nor symbol versions. */
	stem = xstrndup(name, (size_t)(cut - name));
	if (!add_stem(out, stem))
		return false;
	strbuf_adds(out, cut);
	return true;
}

char *demangle(const char *name)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	return demangle_add(&text, name) ? strbuf_take(&text) : NULL;
}

char *demangle_method(const char *name)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	return demangle_java_add(&text, name) ? strbuf_take(&text) : NULL;
}
