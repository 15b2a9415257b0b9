/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two profiles with all their images open, and the functions of both with their counterparts. The
 * rows of functions are those of opreport -l.
 *
 *	struct annotate_pair pair;
 *	if (annotate_pair_open(&pair, sides, err) == 0)
 *		...pair.functions[1][i].partner
 *	annotate_pair_close(&pair);
 */
#pragma once

#include "profile/annotate/annotate.h"
#include "profile/annotate/annotate_side.h"
#include "profile/annotate/internal/annotate_rows.h"

/* A symbol with samples; its index is the number of its row. */
struct annotate_function {
	uint32_t view;
	uint32_t symbol;   /* in the view; ANNOTATE_NONE: the samples of the image in no symbol */
	uint32_t partner;  /* the index on the other side, or ANNOTATE_NONE */
	bool has_unplaced; /* some of its samples are on lines without a counterpart */
	bool has_lost;	   /* of some the line is not known */
};

struct annotate_pair {
	const struct annotate_diff_side *sides;
	struct annotate_view *views[2];
	size_t view_count[2];
	uint32_t *images;     /* of the second profile, by those of the first */
	uint32_t *view_of[2]; /* by image of the second profile: its view on each side, or
			       * ANNOTATE_NONE */
	struct annotate_function *functions[2];
	size_t function_count[2], room[2];
	uint32_t **function_of[2]; /* by view and symbol */
	struct annotate_rows rows; /* of functions */
};

/* Joins the blocks of the classes, opens all images, and matches the functions. 0, or -EINVAL if
 * the profiles' columns differ; the caller calls annotate_pair_close(), always. */
int annotate_pair_open(struct annotate_pair *p, const struct annotate_diff_side sides[2],
		       struct error *err);
/* Closes and frees all. */
void annotate_pair_close(struct annotate_pair *p);

/* Leaves only the @count functions wanted that changed most, of both sides. */
void annotate_pair_choose(struct annotate_pair *p, size_t count);
/* The symbol of a function; NULL if it is none. */
const struct annotate_symbol *annotate_pair_symbol(const struct annotate_pair *p, unsigned int side,
						   const struct annotate_function *f);
/* The function of sample number @i of a view. */
struct annotate_function *annotate_pair_function(const struct annotate_pair *p, unsigned int side,
						 size_t view, size_t i);
/* The view of the other side that corresponds to a view; NULL if that image has no samples
 * there. */
const struct annotate_view *annotate_pair_other(const struct annotate_pair *p, unsigned int side,
						size_t view);
/* Whether a view of the second side has functions that may have samples in the first profile, which
 * has no symbols of that image. */
bool annotate_pair_is_blind(const struct annotate_pair *p, size_t view);
/* Whether both views are of one build. */
bool annotate_pair_is_same_build(const struct annotate_view *a, const struct annotate_view *b);
