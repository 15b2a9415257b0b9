/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/mem.h is left out on purpose: libiberty has functions of the same names. */
#include "image/demangle.h"

#include "base/strbuf.h"
#include "image/demangle_java.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <string.h>

/* _Z: Itanium C++ and old Rust; _R: Rust v0; a second underscore before them on some systems. */
static bool looks_mangled(const char *name)
{
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

/* Rust first, for what is both. */
static bool add_stem(struct strbuf *out, const char *name)
{
	enum { OPTIONS = DMGL_PARAMS | DMGL_ANSI };
	size_t before = out->length;

	if (may_be_rust(name) && rust_demangle_callback(name, OPTIONS, take, out))
		return true;
	strbuf_cut(out, before);
	if (cplus_demangle_v3_callback(name, OPTIONS, take, out))
		return true;
	strbuf_cut(out, before);
	return false;
}

bool demangle_add(struct strbuf *out, const char *name)
{
	_cleanup_free_ char *stem = NULL;
	const char *cut;

	if (!looks_mangled(name))
		return demangle_java_add(out, name);
	cut = strchr(name, '@');
	if (!cut)
		return add_stem(out, name);
	/* libiberty knows .isra.0 and .cold, but neither @plt nor symbol versions. */
	stem = strndup(name, (size_t)(cut - name));
	if (!stem || !add_stem(out, stem))
		return false;
	strbuf_adds(out, cut);
	return true;
}

char *demangle(const char *name)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	return demangle_add(&text, name) ? strbuf_take(&text) : NULL;
}
