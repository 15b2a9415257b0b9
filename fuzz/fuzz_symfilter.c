/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of symbols as --include-symbols takes them; after a newline a symbol's name and its image,
 * separated by a blank. */
#include "base/mem.h"
#include "fuzz.h"
#include "profile/select/symfilter.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = xstrndup((const char *)data, size);
	struct symbol_filter filter = { 0 };
	char *name = strchr(text, '\n'), *path = name ? strchr(name, ' ') : NULL;

	if (name)
		*name++ = '\0';
	if (path)
		*path++ = '\0';
	symbol_list_add(&filter.include, text);
	symbol_list_add(&filter.exclude, text);
	if (symbol_filter_wants(&filter, name, path ?: "/") && filter.include.count)
		abort(); /* the same list on both sides leaves nothing */
	symbol_filter_done(&filter);
	return 0;
}
