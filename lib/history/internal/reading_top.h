/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the files of a reading at its end, if only the symbols with the most samples are wanted
 * (struct history_wanted). A symbol has at most the samples of its image in an application, and
 * the largest one has at least those of any key there.
 *
 *	struct reading r = { .dir = dir, .window = &window, .top = 30 };
 *	if (reading_segment(&r, source, err) == 0)
 *		rest = reading_name_top(&r);
 */
#pragma once

#include <stddef.h>

struct reading;

/* Parses the lines, whose numbers the entries of ->pile have as files until then, and adds up the
 * files that cannot have one of the ->top symbols. Returns of how many images of applications they
 * are; few are not worth it. */
size_t reading_name_top(struct reading *r);
