/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "base/mem.h"
#include "symbol/kallsyms.h"

#include <stdio.h>
#include <string.h>

/* As a line of the kernel's own files, which may be those of another machine. */
static void read_line(const char *bytes, size_t size)
{
	_cleanup_free_ char *line = xstrndup(bytes, size), *again = xstrdup(line);
	struct kallsyms_line symbol;
	struct modules_line module;
	size_t length = strlen(line);

	if (kallsyms_line_parse(line, &symbol) == 0 &&
	    strlen(symbol.name) + strlen(symbol.module) > length)
		__builtin_trap();
	if (modules_line_parse(again, &module) == 0 && strlen(module.name) > length)
		__builtin_trap();
}

static void read_lines(const char *bytes, size_t size)
{
	while (size) {
		const char *end = memchr(bytes, '\n', size);
		size_t length = end ? (size_t)(end - bytes) + 1 : size;

		read_line(bytes, length);
		bytes += length;
		size -= length;
	}
}

/* The loader of saved and plain symbol files; what it made must answer for any key. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	FILE *f = size ? fmemopen((void *)data, size, "r") : NULL;
	size_t i;

	if (!f)
		return 0;
	if (kallsyms_load_stream(f, "input", &k, NULL) == 0)
		for (i = 0; i < kallsyms_image_count(k); i++) {
			const struct kallsyms_image *image = kallsyms_image_at(k, i);

			if (image->count > 1 &&
			    image->symbols[0].address > image->symbols[image->count - 1].address)
				abort();
		}
	(void)fclose(f);
	read_lines((const char *)data, size);
	return 0;
}
