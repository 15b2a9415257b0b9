/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jit/internal/map_line.h"

#include "base/parse.h"

#include <string.h>

/* Reads a number and the space after it; HotSpot writes "0x" before it. */
static bool take_number(const char **at, uint64_t *ret)
{
	if (!strncmp(*at, "0x", 2))
		*at += 2;
	return parse_hex(at, ret) == 0 && *(*at)++ == ' ';
}

bool map_line_parse(const char *line, struct jit_code *ret)
{
	if (!take_number(&line, &ret->address) || !take_number(&line, &ret->size))
		return false;
	ret->name = line;
	return *line != '\0';
}
