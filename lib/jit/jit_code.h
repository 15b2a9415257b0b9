/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A piece of code that a process generated at run time (jit/jit.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_code_row;

struct jit_line {
	uint64_t address; /* the first one of the line */
	uint32_t line;
	const char *file;
};

/* There may be millions: the order of the fields leaves no gaps. */
struct jit_code {
	uint64_t address, size;
	uint64_t from, to;    /* alive at from <= t < to; nanoseconds of CLOCK_MONOTONIC */
	uint64_t place;	      /* address in the ELF file, set by jit_load() */
	uint64_t key;	      /* by which its writer knows it; 0: none */
	const char *name;     /* as written by the compiler, but methods of Java are readable */
	const uint8_t *bytes; /* the code, or NULL */
	const struct jit_line *lines;
	const struct unwind_code_row *rows; /* how to unwind it (unwind/unwind_code.h) */
	const uint8_t *inlined;		    /* its calls (jit/jit_inlined.h), or NULL */
	uint32_t line_count, inlined_bytes;
	uint32_t row_count; /* 0: not known */
	bool late;	    /* ->from is when it became known: it may have existed before */
	bool renewed;	    /* a later piece is the same code at the same place, with details */
};
