/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/mapping.h"

#include "base/macro.h"

#include <string.h>

/* Names of memory that has no file; all that is not known by name is "anon". */
static const char *const labels[] = { "[heap]", "[stack]", "[uprobes]", "[vsyscall]" };

/* Names that the kernel gives to private and shared anonymous memory, and to huge pages. */
static const char *const anonymous[] = { "//anon", "/anon_hugepage", "/dev/zero" };

/* The label of @path if there is no file behind it, else NULL. */
static const char *label_of(const char *path)
{
	size_t i, length;

	for (i = 0; i < ARRAY_SIZE(labels); i++)
		if (!strcmp(path, labels[i]))
			return labels[i];
	for (i = 0; i < ARRAY_SIZE(anonymous); i++) {
		length = strlen(anonymous[i]);
		if (!strncmp(path, anonymous[i], length) &&
		    (!path[length] || !strcmp(path + length, " (deleted)")))
			return "anon";
	}
	/* "[anon:name]", which records do not show, and whatever comes. */
	return !*path || *path == '[' ? "anon" : NULL;
}

void mapping_from(const struct mapping_source *source, struct cookie_table *cookies,
		  struct mapping *ret)
{
	*ret = (struct mapping){ .start = source->start, .end = source->end };
	if (!strcmp(source->path, "[vdso]")) {
		ret->cookie = cookie_vdso(cookies);
		return;
	}
	ret->label = label_of(source->path);
	if (ret->label)
		return;
	ret->offset = source->offset;
	ret->cookie = cookie_file(cookies, source->device, source->inode, source->generation,
				  source->path);
}
