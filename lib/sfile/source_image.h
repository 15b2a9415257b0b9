/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Images that are source files: their samples are in functions that an interpreter runs, whose
 * names and lines are in an ELF file in the session. The manifest distinguishes such an image from
 * a mapped file of the same path by its build-id.
 *
 *	struct manifest_image file = { .path = path, .version.build_id = SOURCE_IMAGE_ID };
 *	_cleanup_free_ char *functions = source_image_path(samples, name);
 */
#pragma once

#include "base/build_id.h"

#include <stdbool.h>

struct manifest_image;

#define SOURCE_IMAGE_ID ((struct build_id){ .size = 6, .bytes = "source" })

/* Whether @image, which may be NULL, is a source file. */
bool source_image_is(const struct manifest_image *image);
/* The path of the functions of the source file called @name in the session's directory @samples;
 * caller frees. */
char *source_image_path(const char *samples, const char *name);
