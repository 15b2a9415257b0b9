/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the memory of processes, as reports have them for all processes of a program.
 *
 *	char *name = region_name("anon", "node");	"[JIT node]"
 */
#pragma once

#include <stdbool.h>

struct sname_image;

/* The name of memory with a label, of processes that run a program; caller frees. */
char *region_name(const char *label, const char *program);
/* Whether @text is the name of the region @image of a process that runs @app. */
bool region_name_is(const char *text, const struct sname_image *image,
		    const struct sname_image *app);
