/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of functions that two profiles have samples in, with its samples in both, as rows that
 * are compared.
 *
 *	struct annotate_listings l;
 *	annotate_listings_init(&l, sides);		before annotate_pair_open()
 *	annotate_listings_find(&l, &pair, NULL);
 *	for (i = 0; i < l.count; i++)
 *		...l.list[i], those that changed most first
 *	annotate_listings_done(&l);
 */
#pragma once

#include "profile/annotate/internal/annotate_code.h"
#include "profile/annotate/internal/annotate_pair.h"
#include "profile/annotate/internal/annotate_rows.h"

/* A function. */
struct annotate_listing {
	uint32_t functions[2];	       /* on each side, or ANNOTATE_NONE */
	const struct row *row;	       /* of the functions */
	struct annotate_code codes[2]; /* of one build, only the second's is read */
	uint32_t *numbers[2]; /* of each instruction of the code: its row, or ANNOTATE_NONE */
	uint32_t *partners;   /* of each instruction of the first's code: that of the second */
	bool is_loose;	      /* there is no code of the first: the rows are in ->loose */
	const char *why;      /* why there is no code at all; or NULL */
};

struct annotate_listings {
	struct annotate_pair *pair;
	struct annotate_listing *list;
	size_t count;
	struct annotate_rows rows, loose;
};

/* Without functions. The caller calls annotate_listings_done(). */
void annotate_listings_init(struct annotate_listings *l, const struct annotate_diff_side sides[2]);
/* Reads the code of all wanted functions that reach the threshold, with these options of the
 * disassembler. Adds other functions, and samples without code, to the rest. */
void annotate_listings_find(struct annotate_listings *l, struct annotate_pair *pair,
			    const char *options);
/* Frees all. */
void annotate_listings_done(struct annotate_listings *l);
