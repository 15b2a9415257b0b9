/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call chain, and a caller and a callee in one. The numbers of images and contexts are those of
 * a struct chain_names. Whoever makes them owns the frames.
 *
 *	const struct chain_frame frames[] = { { image, offset }, { image, offset_of_main } };
 *	const struct chain chain = { frames, 2, 1 };
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHAIN_DIRECTORY "chains" /* below samples/NAME */

/* Chains are cut to this many frames; the outermost are dropped. */
enum { CHAIN_FRAMES_MAX = 2048 };

struct chain_frame {
	uint32_t image;	 /* number of the image */
	uint64_t offset; /* in the image; the upper 16 bits repeat bit 47 */
};

/* A chain and the number of samples that had it; borrowed. */
struct chain {
	const struct chain_frame *frames; /* innermost first */
	size_t count;
	uint64_t samples;
	bool is_function; /* the innermost offset is that of its function: its own was too rare */
	uint32_t node;	  /* of chains that are read by slice: see chain_reader_nodes() */
};

/* A caller and callee, adjacent frames in chains of one context. The outermost frame is a callee,
 * too: of no caller, whose image is 0. */
struct chain_arc {
	uint32_t context;
	struct chain_frame caller, callee;
	uint64_t samples;
	uint64_t returns; /* those of ->samples in which the callee's offset is a return address */
	uint64_t entries; /* those in which the callee entered the kernel, or was interrupted */
};
