/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interpreter/php_names.h"

#include "base/mem.h"

#include <string.h>

/* @directory, of @length bytes, and "<name>", in which slashes are none. */
static char *bracketed(const char *directory, size_t length, const char *name)
{
	char *text = xasprintf("%.*s<%s>", (int)length, directory, name), *at;

	for (at = text + length; *at; at++)
		if (*at == '/')
			*at = '_';
	return text;
}

char *php_names_file(const char *file)
{
	static const char phar[] = "phar://";
	/* What follows is "eval()'d code" or "runtime-created function". */
	const char *made, *name;

	if (!strncmp(file, phar, strlen(phar)))
		file += strlen(phar);
	if (*file != '/')
		return bracketed(file, 0, *file ? file : "php");
	made = strstr(file, ") : ");
	if (!made)
		return xstrdup(file);
	name = memrchr(file, '/', (size_t)(made - file));
	return bracketed(file, (size_t)(name + 1 - file), name + 1);
}

char *php_names_function(const char *scope, const char *name)
{
	return xasprintf("%s%s%s", scope, *scope ? "::" : "", name);
}
