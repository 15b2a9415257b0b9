/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_window.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>

int web_window_parse(const char **at, char **ret)
{
	static const char all[] = "all";
	size_t length = strcspn(*at, "/");

	if (!length || strspn(*at, "0123456789-:.TZal") < length)
		return -EINVAL;
	*ret = length == strlen(all) && !strncmp(*at, all, length)
		       ? NULL
		       : xasprintf("time:%.*s", (int)length, *at);
	*at += length;
	return 0;
}

char **web_window_words(char *const *words, char *window, size_t *ret_count)
{
	size_t count = 0, i;
	char **all;

	while (words[count])
		count++;
	all = xcalloc(count + 2, sizeof(*all));
	for (i = count = 0; words[i]; i++)
		if (!window || strncmp(words[i], "time:", 5) != 0)
			all[count++] = words[i];
	if (window)
		all[count++] = window;
	*ret_count = count;
	return all;
}
