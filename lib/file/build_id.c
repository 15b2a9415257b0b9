/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/build_id.h"

#include "base/parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->size && a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

char *build_id_text(const struct build_id *id, char text[BUILD_ID_TEXT])
{
	unsigned int i;

	text[0] = '\0';
	for (i = 0; i < id->size; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", id->bytes[i]);
	return text;
}

int build_id_parse(const char *text, struct build_id *ret)
{
	size_t length = strlen(text), i;
	struct build_id id = { 0 };

	if (length % 2 || length > 2 * BUILD_ID_MAX)
		return -EINVAL;
	for (i = 0; i < length; i += 2) {
		char digits[3] = { text[i], text[i + 1], 0 };
		const char *at = digits;
		uint64_t byte;

		if (parse_hex(&at, &byte) < 0 || *at)
			return -EINVAL;
		id.bytes[id.size++] = (uint8_t)byte;
	}
	*ret = id;
	return 0;
}
