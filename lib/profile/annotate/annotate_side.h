/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What annotated differences are made from (annotate_diff.h): two profiles, and what is to be shown
 * of them. All is borrowed.
 *
 *	struct annotate_diff_side side = { .annotate = &annotate, .gather = gather };
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct annotate;
struct binaries;
struct classes;
struct gather;
struct losses;
struct sources;

/* One of the two profiles. */
struct annotate_diff_side {
	struct annotate *annotate; /* collected */
	struct gather *gather;
	struct classes *classes; /* their blocks are joined */
	struct binaries *binaries;
	struct sources *sources;
	const struct losses *losses;
	const char *words; /* its specification, for the header */
};

struct annotate_diff_config {
	FILE *out;
	bool assembly;	     /* as text: code, not sources */
	bool source;	     /* with ->assembly: source lines above the code */
	const char *options; /* of the disassembler, or NULL */
	bool show_bytes;     /* of instructions */
	size_t top;	     /* only so many functions, those that changed most; 0: all */
};
