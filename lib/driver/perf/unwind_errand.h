/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A question for an opener (identity/opener.h) on which an unwinding depends: the unwind table of
 * an image, or code in the memory of a process. A thread waits for the answer.
 *
 *	errands_add(errands, unwind_errand_table(opener, image, where));
 *	...
 *	e = (struct unwind_errand *)errands_take(errands);
 *	...
 *	unwind_errand_free(e);
 */
#pragma once

#include "helper/errands.h"
#include "identity/cookie_image.h"

#include <stddef.h>

struct opener;

struct unwind_errand {
	struct errand errand;
	struct opener *opener;	   /* borrowed */
	uint64_t cookie;	   /* of the image; 0: code is asked for */
	struct cookie_image image; /* ->path is own */
	struct cookie_mapped where;
	/* The answer: */
	int code;    /* 0 or -errno */
	void *bytes; /* of a table: for parser_table_parse(); or the page of code */
	size_t size; /* of a table */
};

/* Asks for the table of @image; caller frees. */
struct errand *unwind_errand_table(struct opener *o, const struct cookie_image *image,
				   const struct cookie_mapped *where);
/* Asks for the page of memory at @page of process @tgid; caller frees. */
struct errand *unwind_errand_code(struct opener *o, uint32_t tgid, uint64_t page);
/* Frees it; accepts NULL. */
void unwind_errand_free(struct unwind_errand *e);
DEFINE_CLEANUP(struct unwind_errand *, unwind_errand_free);
