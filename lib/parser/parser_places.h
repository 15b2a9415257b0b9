/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places in the code of a file, whose lines parser_lines() reads (parser/parser.h). */
#pragma once

#include <stdint.h>

enum { PARSER_PLACES_MAX = 256 };

struct parser_places {
	uint32_t count, unused;
	uint64_t offsets[PARSER_PLACES_MAX]; /* in the file */
};
