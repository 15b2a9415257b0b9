/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that a process made while it ran: what lay where, and when. Filled from what run-time
 * compilers write (jit/jit_source.h), asked for the code at a PC, and written out as an ELF file
 * (elfwrite/jit_elf.h) that reports read like any other.
 *
 *	struct jit *j = jit_new();
 *	jit_load(j, &(struct jit_code){ .address = 0x1000, .size = 64, .from = t, .name = "f" });
 *	const struct jit_code *c = jit_find(j, pc, t);
 *	jit_free(j);
 *
 * Code that is loaded over other code ends it. So that samples of both can be told apart although
 * samples have no time, each piece of code has a place of its own: its address, or, where earlier
 * code has that already, one in the range from JIT_PLACE_START on, which no process can use.
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Between the halves of the address space of every 64-bit machine; 4 GiB, as a sample's offset in
 * it must fit into half a key of an arc. */
#define JIT_PLACE_START ((uint64_t)0x4a49540000000000)
#define JIT_PLACE_END	(JIT_PLACE_START + UINT32_MAX)
#define JIT_FOREVER	UINT64_MAX

enum {
	JIT_CODES_MAX = 1 << 20,  /* pieces of code of one process */
	JIT_BYTES_MAX = 64 << 20, /* of code kept for disassembly, in all */
	JIT_SIZE_MAX = 1 << 24,	  /* of one piece */
	JIT_LINES_MAX = 4 << 20	  /* rows of lines, in all */
};

struct jit_line {
	uint64_t address; /* first one that belongs to the line */
	uint32_t line;
	const char *file;
};

struct jit_code {
	uint64_t address, size;
	uint64_t from, to; /* alive at from <= t < to; nanoseconds of CLOCK_MONOTONIC */
	bool late;	   /* ->from is only when we heard of it: it may have been there before */
	uint64_t place;	   /* address in the ELF file, set by jit_load() */
	const char *name;  /* as written by the compiler */
	const uint8_t *bytes; /* the code, or NULL */
	const struct jit_line *lines;
	size_t line_count;
};

struct jit;

/* An empty table; caller frees. */
struct jit *jit_new(void);
void jit_free(struct jit *j);
DEFINE_CLEANUP(struct jit *, jit_free);

/* Adds code that lives from ->from on (->to and ->place are set here); what it covers ends there.
 * Late code that covers none that ever was is taken to have lived always.
 * All that @code points at is copied. The same code said again changes nothing. Code that is too
 * big, empty or beyond the limits is left out and counted. */
void jit_load(struct jit *j, const struct jit_code *code);
/* The code at @address lies at @to from @time on; unknown code is ignored. */
void jit_move(struct jit *j, uint64_t address, uint64_t to, uint64_t time);
/* The code that starts at @address ends at @time. */
void jit_unload(struct jit *j, uint64_t address, uint64_t time);

/* The code that lay at @pc at @time, or NULL. */
const struct jit_code *jit_find(const struct jit *j, uint64_t pc, uint64_t time);

/* Number of pieces, and the @i-th of them in the order they were loaded; borrowed. */
size_t jit_count(const struct jit *j);
const struct jit_code *jit_at(const struct jit *j, size_t i);
/* Pieces left out so far. */
size_t jit_dropped(const struct jit *j);
