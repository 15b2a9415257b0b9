/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the frames of call chains to functions: rows of a container, one a function. Where inlined
 * functions are asked for, one frame is of several.
 *
 *	struct chain_frames *f = chain_frames_new(gather, &rows, binaries, false);
 *	n = chain_frames_find(f, image, offset, is_caller, &ids);
 *	chain_frames_free(f);
 */
#pragma once

#include "profile/rows/container.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binaries;
struct chain_frames;
struct gather;

/* Rows go to @rows, with symbols from @bs; all are borrowed. Caller frees. */
struct chain_frames *chain_frames_new(const struct gather *g, struct container *rows,
				      struct binaries *bs, bool inlines);
/* Closes the images; NULL is fine. */
void chain_frames_free(struct chain_frames *f);

/* Whether the image, of the gather, is the kernel or a part of it. */
bool chain_frames_is_kernel(struct chain_frames *f, uint32_t image);
/* The ids of the rows of the functions that the code at @offset of the image is of, the innermost
 * first: their number, at least 1, and, until the next question, themselves. Where it is a caller,
 * the call stands before the offset. */
size_t chain_frames_find(struct chain_frames *f, uint32_t image, uint64_t offset, bool is_caller,
			 const uint32_t **ret);
