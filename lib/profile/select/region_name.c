/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/region_name.h"

#include "base/mem.h"
#include "file/path.h"
#include "sfile/sname.h"

#include <string.h>

char *region_name(const char *label, const char *program)
{
	/* JIT code is in memory that has no name of its own. */
	const char *what = strcmp(label, "anon") ? label : "JIT";

	return *label == '[' ? xasprintf("%.*s %s]", (int)strcspn(label, "]"), label, program)
			     : xasprintf("[%s %s]", what, program);
}

bool region_name_is(const char *text, const struct sname_image *image,
		    const struct sname_image *app)
{
	_cleanup_free_ char *program = NULL, *name = NULL;
	const char *base = app->kind == SNAME_ROOT ? path_base(app->name) : app->name;

	if (*text != '[' || image->kind != SNAME_ANON || app->kind == SNAME_ANON)
		return false;
	program = xstrndup(base, strlen(base) - strlen(sname_build_mark(base)));
	name = region_name(image->name, program);
	return !strcmp(text, name);
}
