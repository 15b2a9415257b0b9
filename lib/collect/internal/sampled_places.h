/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every place in a file that a session has samples of, or that called one: in its sample files, in
 * those that were moved to idle/, in its history and in its call chains, as far as these are kept.
 *
 *	r = sampled_places(samples, mark, &tables);
 */
#pragma once

#include <stdint.h>

struct manifest_image;

/* Is called with the image that the manifest has for a file, and an offset in it. */
typedef void sampled_place(const struct manifest_image *image, uint64_t offset, void *data);

/* Calls @each for the session at @samples, for some places several times. What is damaged is left
 * out, as reports do. 0, or -errno: some may be missing. */
int sampled_places(const char *samples, sampled_place *each, void *data);
