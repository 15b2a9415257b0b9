/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which pages parser_pages() reads (parser/parser.h). */
#pragma once

#include <stdint.h>

enum { PARSER_PAGE_BYTES = 4096 };

/* Pages of a file, the first at ->offset and each further one ->step bytes later. */
struct parser_pages {
	uint64_t offset, step;
	uint32_t count;
};
