/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interpreter/java_names.h"

#include "base/mem.h"

#include <string.h>

/* The directory of images: no program knows where the sources of its classes are. */
static const char root[] = "/[java]/";

char *java_names_file(const char *class_name, const char *source)
{
	const char *package = strrchr(class_name, '/');
	const int length = package ? (int)(package - class_name + 1) : 0;
	const char *base;

	if (strcmp(source, class_name) != 0 && !strchr(source, '/'))
		return xasprintf("%s%.*s%s", root, length, class_name, source);
	base = class_name + length;
	return xasprintf("%s%.*s%.*s.java", root, length, class_name, (int)strcspn(base, "$+"),
			 base);
}

const char *java_names_source(const char *file)
{
	return strncmp(file, root, strlen(root)) ? file : file + strlen(root);
}

char *java_names_method(const char *class_name, const char *name, const char *signature)
{
	return xasprintf("L%.*s;%s%s", (int)strcspn(class_name, "+"), class_name, name, signature);
}
