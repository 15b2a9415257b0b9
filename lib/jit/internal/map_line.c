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

/* Makes "int Shop$$Lambda$2/0x00007f2748001870.compare(...)" "int Shop$$Lambda$2.compare(...)". */
static void cut_address(char *name)
{
	char *at = strstr(name, "/0x"), *end;

	if (!at)
		return;
	end = at + 3 + strspn(at + 3, "0123456789abcdef");
	if (*end == '.')
		memmove(at, end, strlen(end) + 1);
}

bool map_line_parse(char *line, struct jit_code *ret)
{
	const char *at = line;

	if (!take_number(&at, &ret->address) || !take_number(&at, &ret->size))
		return false;
	cut_address(line + (at - line));
	ret->name = at;
	return *at != '\0';
}
