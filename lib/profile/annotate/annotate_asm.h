/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Annotated assembly: the code of symbols with samples, with the samples before each instruction
 * and, on request, the source lines above it.
 *
 *	struct annotate_asm_output to = { .out = stdout };
 *	annotate_asm_print(&annotate, &view, &to);		once for each image
 */
#pragma once

#include "profile/annotate/annotate.h"

struct sources;

struct annotate_asm_output {
	FILE *out;
	const char *options; /* options of the disassembler: "intel"; or NULL */
	bool show_bytes;     /* the instructions' bytes before them */
	struct sources
		*sources; /* for source lines above the code compiled from them; NULL: none */
};

/* Prints the selected symbols of the view that reach the threshold, most samples first. Adds the
 * others to the rest. */
void annotate_asm_print(struct annotate *a, const struct annotate_view *v,
			const struct annotate_asm_output *to);
