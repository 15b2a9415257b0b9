/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks up the source lines of addresses in the debug information of one binary, or in what was
 * kept of it. The names of source files are copied to the container of the rows that show them.
 *
 *	struct placer *p = placer_open(&container, binaries, image, &binary, false);
 *	row->place = placer_find(p, address);
 *	placer_free(p);
 */
#pragma once

#include "profile/rows/container.h"

struct binaries;
struct binary;
struct lines;
struct placer;

/* Looks up lines of image number @image in @b, its binary (binary_lines()); with @texts, finds
 * their texts, too. Caller frees, before @b is closed. NULL: there are none. */
struct placer *placer_open(struct container *c, struct binaries *bs, uint32_t image,
			   const struct binary *b, bool texts);
/* NULL is fine. */
void placer_free(struct placer *p);
/* The line table that it reads; borrowed. */
struct lines *placer_lines(const struct placer *p);
/* The line that the code at @address was compiled from; ->file is NULL if that is not known. */
struct row_place placer_find(struct placer *p, uint64_t address);
/* The line where the function begins whose first code is at @address. */
struct row_place placer_start(struct placer *p, uint64_t address);
