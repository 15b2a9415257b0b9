/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interpreter/ruby_names.h"

#include "base/mem.h"

#include <stdbool.h>
#include <string.h>

char *ruby_names_file(const char *file)
{
	size_t length = strlen(file);
	bool is_bracketed = *file == '<' && file[length - 1] == '>';
	char *text, *at;

	if (*file == '/')
		return xstrdup(file);
	text = is_bracketed ? xstrdup(file) : xasprintf("<%s>", *file ? file : "ruby");
	for (at = text; *at; at++)
		if (*at == '/')
			*at = '_';
	return text;
}
