/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the symbols with the most samples of a profile to annotate, so that nobody has to name
 * them. The choice belongs to the struct annotate.
 *
 *	annotate_top(&a, binaries, 5);
 *	annotate_open(&a, i, binaries, &view);	wants only these
 */
#pragma once

#include <stddef.h>

struct annotate;
struct binaries;

/* Restricts @a to the @count symbols with the most samples, of those that its configuration
 * selects. */
void annotate_top(struct annotate *a, struct binaries *bs, size_t count);
