/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts the frames of call chains to functions, which are rows of a container. If inlined
 * functions are wanted, one frame can be several functions.
 *
 *	struct chain_frames *f = chain_frames_new(&config);
 *	n = chain_frames_find(f, image, offset, role, &ids);
 *	chain_frames_free(f);
 */
#pragma once

#include "profile/rows/container.h"
#include "symbol/symtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binaries;
struct chain_frame;
struct chain_frames;
struct gather;

struct chain_frames_config {
	const struct gather *gather;
	struct container *rows; /* that rows are added to */
	struct binaries *binaries;
	bool inlines; /* inlined functions are functions of their own */
	bool regions; /* each region of JIT code is an image of its own (row_join.h) */
};

/* All that is in @config is borrowed. Caller frees. */
struct chain_frames *chain_frames_new(const struct chain_frames_config *config);
/* Closes the images; NULL is fine. */
void chain_frames_free(struct chain_frames *f);

/* Whether image number @image of the gather is the kernel or a part of it. */
bool chain_frames_is_kernel(struct chain_frames *f, uint32_t image);
/* Finds the functions of the code at @offset of the image, the innermost first. Returns their
 * number, at least 1; the ids of their rows in *@ret are valid until the next call. */
size_t chain_frames_find(struct chain_frames *f, uint32_t image, uint64_t offset,
			 enum code_role role, const uint32_t **ret);
/* The same of a frame that the caller remembers, so that it is not looked for again. Its image is
 * of the gather. */
size_t chain_frames_look(struct chain_frames *f, const struct chain_frame *frame,
			 enum code_role role, const uint32_t **ret);
/* What a frame is by its role, if that is one function, for chain_frames_row(). */
#define CHAIN_FRAMES_UNKNOWN UINT32_MAX
struct chain_frames_code {
	uint32_t called, sampled;
	/* Where the search for the next frame of the image begins, which is fast if that has a
	 * higher offset than this one. */
	uint32_t from;
	uint64_t offset;
};
/* Finds that; @code is of the last frame of the same image that was looked for, or zeroed. */
void chain_frames_seek(struct chain_frames *f, const struct chain_frame *frame,
		       struct chain_frames_code *code);
/* The id of the row of a frame that is not unknown. */
uint32_t chain_frames_row(struct chain_frames *f, uint32_t image, uint32_t code);
/* The role of a frame that is the innermost if @is_leaf, in the kernel or not, as is the one that
 * it called. */
static inline enum code_role chain_frames_role(bool is_leaf, bool in_kernel, bool callee_in_kernel)
{
	if (is_leaf)
		return CODE_SAMPLED;
	return callee_in_kernel && !in_kernel ? CODE_ENTERED : CODE_CALLED;
}
