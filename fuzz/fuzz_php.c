/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of PHP's source files. What is read of interpreters is part of building an unwind table
 * (fuzz_unwind.c). */
#include "fuzz.h"

#include "base/mem.h"
#include "interpreter/php_names.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *file = xstrndup((const char *)data, size);
	_cleanup_free_ char *name = php_names_file(file);
	const char *bracket = strchr(name, '<');

	/* A path, or brackets around a name without a slash. */
	if (*name != '/' && *name != '<')
		abort();
	if (*name == '<' && strchr(bracket, '/'))
		abort();
	return 0;
}
