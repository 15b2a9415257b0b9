/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a session refers to: the images and the processes in the names of its sample files, its
 * history and its call chains.
 *
 *	struct references refs = { 0 };
 *	if (references_read(samples, &refs) == 0)
 *		used = references_image(&refs, "/usr/bin/xz");
 *	references_done(&refs);
 */
#pragma once

#include "base/intern.h"
#include "base/map.h"

#include <stdbool.h>
#include <stdint.h>

struct references {
	struct intern images; /* their names in the manifest */
	struct map makers;    /* processes with memory without a file, by number + 1 */
	int error;	      /* -errno: some names are not known */
};

/* Reads the names in the session at @samples. 0, or -errno: there may be others. */
int references_read(const char *samples, struct references *r);
/* Whether the image called @name is referred to. */
bool references_image(const struct references *r, const char *name);
/* Whether memory without a file of process @tgid is. */
bool references_maker(const struct references *r, uint32_t tgid);
void references_done(struct references *r);
