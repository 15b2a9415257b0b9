/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions as JSON, for a page and for programs: their instructions with their samples, the source
 * lines that they were compiled from, and the inlined calls that they are in.
 *
 *	annotate_json_print(&annotate, &view, &view.symbols[0], &output);
 */
#pragma once

#include "profile/annotate/annotate.h"

struct sources;

struct annotate_json_output {
	FILE *out;
	struct sources *sources;
	const char *image; /* named in the function's object; NULL: not */
};

/* Prints one object; a function whose code is not there has "why" instead of instructions. */
void annotate_json_print(struct annotate *a, const struct annotate_view *v,
			 const struct annotate_symbol *sym, const struct annotate_json_output *to);
/* Prints an object with all functions of all images, and what is in none of them. */
void annotate_json_print_all(struct annotate *a, const struct gather *names, struct binaries *bs,
			     const struct annotate_json_output *to);
