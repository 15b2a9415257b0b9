/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Annotated assembly: the code of the symbols that have samples, with the samples before each
 * instruction and, if wanted, the source lines above it.
 *
 *	struct annotate_asm_output to = { .out = stdout };
 *	annotate_asm_print(&annotate, &view, &to);		once for each image
 */
#pragma once

#include "profile/annotate/annotate.h"

struct sources;

struct annotate_asm_output {
	FILE *out;
	const char *options;	 /* of the machine's disassembler: "intel"; or NULL */
	bool show_bytes;	 /* the instructions' bytes before them */
	struct sources *sources; /* lines of source above the code they became; NULL: none */
};

/* Prints the symbols of the view that are wanted and reach the threshold, most samples first. What
 * is not printed goes to the rest. */
void annotate_asm_print(struct annotate *a, const struct annotate_view *v,
			const struct annotate_asm_output *to);
