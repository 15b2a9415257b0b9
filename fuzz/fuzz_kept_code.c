/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The section from which the places of functions are read again. */
#include "fuzz.h"

#include "elfwrite/kept_code.h"
#include "jit/jit_code.h"

#include <string.h>

static bool look(const struct jit_code *code, void *data)
{
	size_t *names = data, i;

	*names += strlen(code->name);
	for (i = 0; i < code->line_count; i++)
		*names += strlen(code->lines[i].file);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t names = 0;

	(void)kept_code_read(span_of(data, size), look, &names);
	return 0;
}
