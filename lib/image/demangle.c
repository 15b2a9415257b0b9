/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/mem.h is left out on purpose: libiberty has functions of the same names. */
#include "image/demangle.h"

#include "base/macro.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* _Z: Itanium C++ and old Rust; _R: Rust v0; a second underscore before them on some systems. */
static bool looks_mangled(const char *name)
{
	name += name[0] == '_' && name[1] == '_';
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* Rust first: the old Rust mangling is valid C++, with a hash for a last name. */
static char *demangle_stem(const char *name)
{
	enum { OPTIONS = DMGL_PARAMS | DMGL_ANSI };
	char *text = rust_demangle(name, OPTIONS);

	return text ? text : cplus_demangle_v3(name, OPTIONS);
}

char *demangle(const char *name)
{
	_cleanup_free_ char *stem = NULL, *text = NULL;
	const char *cut = strchr(name, '@');
	char *whole = NULL;

	if (!looks_mangled(name))
		return NULL;
	if (!cut)
		return demangle_stem(name);
	/* libiberty knows .isra.0 and .cold, but neither @plt nor symbol versions. */
	stem = strndup(name, (size_t)(cut - name));
	text = stem ? demangle_stem(stem) : NULL;
	if (!text || asprintf(&whole, "%s%s", text, cut) < 0)
		return NULL;
	return whole;
}
