/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interpreter/java_names.h"

#include "base/mem.h"

#include <stdbool.h>
#include <string.h>

/* The directory of images: no program knows where the sources of its classes are. */
static const char root[] = "/[java]/";

/* The length of the name of a class without its address, "+0x00007f2748001870" at the end. */
static size_t plain_length(const char *class_name)
{
	const char *plus = strrchr(class_name, '+');
	bool is_address =
		plus && !strncmp(plus, "+0x", 3) && !plus[3 + strspn(plus + 3, "0123456789abcdef")];

	return is_address ? (size_t)(plus - class_name) : strlen(class_name);
}

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
	return xasprintf("L%.*s;%s%s", (int)plain_length(class_name), class_name, name, signature);
}
