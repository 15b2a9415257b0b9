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

/* The most code that a page shows: what is all of a program that was stripped, to the last of its
 * few symbols, can have 100 MB. */
enum { ANNOTATE_PAGE_CODE_MAX = 256 << 10 };

struct annotate_json_output {
	FILE *out;
	struct sources *sources;
	const char *image; /* named in the function's object; NULL: not */
	uint64_t code_max; /* bytes of code, above which a function has "why", too; 0: any */
};

/* Prints one object; a function whose code is not there has "why" instead of instructions. */
void annotate_json_print(struct annotate *a, const struct annotate_view *v,
			 const struct annotate_symbol *sym, const struct annotate_json_output *to);
/* Prints an object with all functions of all images, and what is in none of them. */
void annotate_json_print_all(struct annotate *a, const struct gather *names, struct binaries *bs,
			     const struct annotate_json_output *to);
