/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names from any compiler, one per line: the result is text, and fits its buffer. */
#include "fuzz.h"

#include "base/mem.h"
#include "symbol/demangle.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = xstrndup((const char *)data, size);
	char *at = text, *name;

	while ((name = strsep(&at, "\n"))) {
		_cleanup_free_ char *readable = demangle(name);

		if (readable && strlen(readable) > 64 << 20)
			__builtin_trap();
	}
	return 0;
}
