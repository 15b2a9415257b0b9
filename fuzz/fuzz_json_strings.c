/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A JSON text of another program, in memory of exactly its size. */
#include "base/json_strings.h"
#include "base/mem.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static int take(const struct json_string *s, void *data)
{
	size_t *length = data;

	*length += strlen(s->key) + strlen(s->value) + s->depth;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = xmalloc(size + !size);
	size_t length = 0;

	memcpy(text, data, size);
	(void)json_strings(text, size, take, &length);
	return length == SIZE_MAX;
}
