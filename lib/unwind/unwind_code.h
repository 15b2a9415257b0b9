/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How to unwind a piece of code that a process generated at run time, from the .eh_frame that came
 * with it. There are few rows, so each has its rule, not an index of it.
 *
 *	struct unwind_code_row *rows;
 *	size_t count;
 *
 *	count = unwind_code_read(&(struct unwind_cfi){ ... }, &rows);
 *	free(rows);
 */
#pragma once

#include "base/span.h"
#include "bpf/unwind_step.h"

#include <stddef.h>
#include <stdint.h>

enum {
	UNWIND_CODE_MAX = 1 << 20,     /* bytes of code that rows are made for */
	UNWIND_CODE_CFI_MAX = 1 << 14, /* bytes of its .eh_frame */
	UNWIND_CODE_ROWS_MAX = 4096,
};

/* From ->offset in the code on, ->rule applies. */
struct unwind_code_row {
	uint32_t offset;
	struct unwind_rule rule;
};

/* The rows of the code at ->address of process ->tgid, which user ->uid runs. Those of a piece of
 * code are sorted by offset; the first one has offset 0. */
struct unwind_code {
	uint32_t tgid, uid;
	uint64_t address, size; /* size 0: no code of the process has rows any more */
	const struct unwind_code_row *rows;
	size_t row_count; /* 0: nothing describes this code */
};

/* What describes a piece of code. */
struct unwind_cfi {
	enum unwind_machine machine;
	uint64_t size;	   /* of the code */
	struct span bytes; /* .eh_frame, linked at the next multiple of 8 after the code */
};

/* Reads the rows of the code. Returns their number, with the rows in *@ret, which the caller frees;
 * 0 if nothing is described, or if there is too much. */
size_t unwind_code_read(const struct unwind_cfi *cfi, struct unwind_code_row **ret);
