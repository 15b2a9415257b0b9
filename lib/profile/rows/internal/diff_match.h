/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which image and which row of one profile is the same as which of another; for diff.c, whose
 * header says by what rules.
 */
#pragma once

#include <stdint.h>

struct diff_side;
struct gather;

/* The image of @second that each one of @first is; images that it lacks are added to it, borrowing
 * their names from @first. Caller frees. */
uint32_t *diff_match_images(const struct gather *first, struct gather *second);

/* The row of @second that each one of @first is, or GATHER_NONE; @images is what
 * diff_match_images() returned. Caller frees. */
uint32_t *diff_match_rows(const struct diff_side *first, const struct diff_side *second,
			  const uint32_t *images);
