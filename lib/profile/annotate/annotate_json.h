/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function as JSON for a page: its instructions with their samples, the source lines that they
 * were compiled from, and the inlined calls that they are in.
 *
 *	annotate_json_print(&annotate, &view, &view.symbols[0], &output);
 */
#pragma once

#include "profile/annotate/annotate.h"

struct sources;

struct annotate_json_output {
	FILE *out;
	struct sources *sources;
};

/* Prints one object; a function whose code is not there has "why" instead of instructions. */
void annotate_json_print(struct annotate *a, const struct annotate_view *v,
			 const struct annotate_symbol *sym, const struct annotate_json_output *to);
