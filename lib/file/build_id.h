/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The build-id that the linker gave an ELF file (note NT_GNU_BUILD_ID): a value, nothing to
 * free. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { BUILD_ID_MAX = 32, BUILD_ID_TEXT = 2 * BUILD_ID_MAX + 1 };

struct build_id {
	uint8_t bytes[BUILD_ID_MAX];
	uint8_t size; /* bytes in use; 0: none */
};

/* Whether both are known and equal. */
bool build_id_equal(const struct build_id *a, const struct build_id *b);
/* Writes lower-case hexadecimal digits, "" for none; returns @text. */
char *build_id_text(const struct build_id *id, char text[BUILD_ID_TEXT]);
/* Parses such digits; 0 or -EINVAL. */
int build_id_parse(const char *text, struct build_id *ret);
