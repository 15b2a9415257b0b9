/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages between an opener (identity/opener.h) and its worker, which were forked from one
 * program. Strings follow the structures. For opener.c only. */
#pragma once

#include "helper/sandbox_config.h"
#include "identity/cookie_image.h"
#include "identity/internal/text_copy.h"
#include "jit/jit_files.h"
#include "jit/jit_source.h"
#include "parser/parser_pages.h"
#include "parser/parser_places.h"

#include <assert.h>
#include <limits.h>

enum opener_what {
	OPENER_IDENTIFY,
	OPENER_CHANGED,
	OPENER_COPY,
	OPENER_TABLE,
	OPENER_CODE,
	OPENER_COPIED,	/* as OPENER_COPY, in the lane of the two before */
	OPENER_VERSION, /* as OPENER_IDENTIFY, in the lane of the next */
	OPENER_FUNCTIONS,
	OPENER_LINES,
	OPENER_JIT_ROOT,
	OPENER_JIT_FIND, /* below the directory that comes along */
	OPENER_JIT_READ, /* the file that comes along with O_PATH */
};

struct opener_request {
	uint32_t what, tgid;	   /* enum opener_what */
	uint64_t start, end;	   /* where the process has it mapped */
	uint32_t owner;		   /* of the process; UINT32_MAX: not looked up */
	struct cookie_image image; /* without its strings */
	struct jit_files_query jit;
	struct jit_source_state state; /* of the source to read */
	uint64_t now;
	struct parser_places places; /* OPENER_LINES */
	char path[PATH_MAX];	     /* only as long as needed is sent */
};

static_assert(sizeof(struct opener_request) <= SANDBOX_REQUEST_MAX, "a request fits");

struct opener_answer {
	struct cookie_image image; /* identified, without its strings */
	struct text_copy copy;	   /* without its string */
	size_t size;	/* of what is left for the one who asked: a table, functions, a portion */
	uint32_t owner; /* of the file, with OPENER_FUNCTIONS and OPENER_LINES */
	bool is_so;	/* changed, or a copy */
	bool is_gone;	/* what would be a copy */
	bool has_text;	/* image.host, copy.path, or that of a JIT file */
	union {
		char text[2 * PATH_MAX];
		uint8_t page[PARSER_PAGE_BYTES]; /* of code */
	};
};

/* The worker: a sandbox's ->serve, whose ->data is the parser. */
void opener_serve(const void *request, size_t size, int fd, struct sandbox_reply *reply);
