/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Images that are source files: their samples are in functions that an interpreter runs, whose
 * names and lines are in an ELF file in the session. The manifest distinguishes such an image from
 * a mapped file of the same path by its build-id.
 *
 *	struct manifest_image file = { .version.build_id = *source_image_id(SOURCE_PHP) };
 *	_cleanup_free_ char *functions = source_image_path(samples, name);
 */
#pragma once

#include "file/build_id.h"

#include <stdbool.h>

struct manifest_image;

/* The language of a source file. */
enum source_language {
	SOURCE_PYTHON,
	SOURCE_PHP,
	SOURCE_RUBY,
	SOURCE_JAVA,
	SOURCE_WAKERS, /* no file: its functions are those who wake tasks */
	SOURCE_LANGUAGE_COUNT_
};

/* The build-id in the manifest of source files in this language. Static. */
const struct build_id *source_image_id(enum source_language language);
/* The language of the source file @image, which may be NULL; -1 if it is none. */
int source_image_language(const struct manifest_image *image);
/* Whether @image, which may be NULL, is a source file. */
bool source_image_is(const struct manifest_image *image);
/* The path of the functions of the source file called @name in the session's directory @samples;
 * caller frees. */
char *source_image_path(const char *samples, const char *name);
