/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Images of which a report has one for all. Each process, and each region of its memory, is an
 * image of its own in a session. People ask about a program: one more image, "[JIT node]", stands
 * for the regions of all its processes. Each archive of a report has its own images: the first of
 * those that are the same file stands for all.
 *
 *	programs_find(gather);			after gather_files()
 *	shown = programs_shown(gather, image);
 */
#pragma once

#include <stdint.h>

struct gather;

/* Finds out the programs of all regions that have samples or are at the ends of arcs. They are
 * added as images, as by gather_image(). What stands for images that are wanted is wanted, too. */
void programs_find(struct gather *g);
/* Adds the image that stands for the JIT code of all processes that run image number @app, for
 * programs_note(). */
void programs_add(struct gather *g, uint32_t app);
/* Notes that image number @image is used by processes that run image number @app. If it is JIT code
 * of a program that is not known yet, it gets the one that programs_add() added, if any. */
void programs_note(struct gather *g, uint32_t image, uint32_t app);
/* The image that rows show for image number @image: that of the program for a region of a process,
 * if it is known; then the same one of the first archive; else itself. */
uint32_t programs_shown(const struct gather *g, uint32_t image);
/* The same where each region is shown as an image of its own. */
uint32_t programs_same(const struct gather *g, uint32_t image);
