/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of a source file by number.
 *
 *	struct sourcetext *t = sourcetext_open(path);
 *	const char *text;
 *	size_t size;
 *	if (t && sourcetext_line(t, 7, &text, &size))
 *		printf("%.*s\n", (int)size, text);
 *	sourcetext_free(t);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>

struct sourcetext;

/* Maps the file and finds its lines; NULL if it cannot be read. Caller frees. */
struct sourcetext *sourcetext_open(const char *path);
void sourcetext_free(struct sourcetext *t);
DEFINE_CLEANUP(struct sourcetext *, sourcetext_free);

/* Line @number, from 1, without its newline; false if there is none. Borrowed. */
bool sourcetext_line(const struct sourcetext *t, size_t number, const char **ret, size_t *ret_size);
