/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source lines that the samples of two profiles are on, with their counterparts, as rows that
 * are compared. annotate_diff.h has the rules.
 *
 *	struct annotate_places places;
 *	annotate_places_init(&places, sides);		before annotate_pair_open()
 *	annotate_places_find(&places, &pair);
 *	for (i = 0; i < places.file_count[1]; i++)
 *		...places.files[1][i]
 *	annotate_places_done(&places);
 */
#pragma once

#include "profile/annotate/internal/annotate_files.h"

/* Without lines. The caller calls annotate_places_done(). */
void annotate_places_init(struct annotate_places *s, const struct annotate_diff_side sides[2]);
/* Finds the lines of all wanted functions; adds what has none, or no place, to the rest. */
void annotate_places_find(struct annotate_places *s, struct annotate_pair *pair);
/* Frees all. */
void annotate_places_done(struct annotate_places *s);
