/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a source has read about code that it reads next: lines, inlined calls, and how to unwind it.
 *
 *	struct code_details d = { 0 };
 *	code_details_line(&d, 0x1000, 7, "a.js");
 *	rows = code_details_fill(&d, 62, &code);
 *	...					code refers to @d and to the rows
 *	free(rows);
 *	code_details_drop(&d);
 *	code_details_done(&d);
 */
#pragma once

#include "base/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit_code;
struct unwind_code_row;

struct code_details {
	struct jit_line *lines; /* ->file points into ->files */
	size_t line_count, line_room;
	char **files;
	size_t file_count, file_room;
	uint8_t *cfi; /* .eh_frame, or NULL */
	size_t cfi_bytes;
	uint8_t *inlined; /* jit/jit_inlined.h, or NULL */
	size_t inlined_bytes;
	uint64_t inlined_into; /* address of the code */
};

/* Adds a line of the next code. */
void code_details_line(struct code_details *d, uint64_t address, uint32_t line, const char *file);
/* Sets the .eh_frame of the next code to a copy of @bytes, to none if there are too many. */
void code_details_cfi(struct code_details *d, struct span bytes);
/* Sets the calls inlined into the next code, if it is at @address, to a copy of @bytes, to none if
 * there are too many. */
void code_details_inlined(struct code_details *d, uint64_t address, struct span bytes);
/* Whether there is anything. */
bool code_details_any(const struct code_details *d);
/* Sets ->lines, if they are inside the code, ->inlined, and ->rows. The caller frees the rows,
 * which are returned, too. @machine: the code's, EM_*. */
struct unwind_code_row *code_details_fill(const struct code_details *d, uint16_t machine,
					  struct jit_code *code);
/* Drops the lines. */
void code_details_drop_lines(struct code_details *d);
/* Drops all. */
void code_details_drop(struct code_details *d);
/* Frees all but itself. */
void code_details_done(struct code_details *d);
