/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code that a process generated at run time: which code was at which address, and when. It is
 * filled from the files of run-time compilers (jit/jit_source.h), finds the code at a PC, and is
 * written as an ELF file (elfwrite/jit_elf.h), which reports read like any other.
 *
 *	struct jit *j = jit_new();
 *	jit_load(j, &(struct jit_code){ .address = 0x1000, .size = 64, .from = t, .name = "f" });
 *	const struct jit_code *c = jit_find(j, pc, t);
 *	jit_free(j);
 *
 * Code loaded over other code ends that. Sample files have no times, so to distinguish samples of
 * both, each piece of code gets a unique address in the ELF file, its place: its own address or, if
 * earlier code has that, one from JIT_PLACE_START on, a range that no process can use.
 */
#pragma once

#include "base/macro.h"
#include "jit/jit_code.h"

#include <stddef.h>
#include <stdint.h>

/* Between the halves of the address space of every 64-bit machine. 4 GiB, as an offset in it must
 * fit into half of a key of a call arc. */
#define JIT_PLACE_START ((uint64_t)0x4a49540000000000)
#define JIT_PLACE_END	(JIT_PLACE_START + UINT32_MAX)
#define JIT_FOREVER	UINT64_MAX

enum {
	JIT_CODES_MAX = 1 << 20,   /* pieces of code of one process */
	JIT_BYTES_MAX = 64 << 20,  /* of memory: names, machine code and lines */
	JIT_DETAIL_MAX = 48 << 20, /* of them, up to which machine code and lines are kept */
	JIT_SIZE_MAX = 1 << 24,	   /* of one piece */
};

struct jit;

/* An empty table; caller frees. */
struct jit *jit_new(void);
/* NULL is fine. */
void jit_free(struct jit *j);
DEFINE_CLEANUP(struct jit *, jit_free);

/* Adds a copy of @code, which lives from ->from on; ->to and ->place are set here. Code that it
 * overlaps ends then. Late code that overlaps none is taken to have lived always. Adding the same
 * code again changes nothing; but if only now it has bytes, lines or other details, it is one more
 * piece, which takes the place of the first. Code that is empty, too large or beyond the limits is
 * only counted. */
void jit_load(struct jit *j, const struct jit_code *code);
/* The code at @address moves to @to at @time; unknown code is ignored. */
void jit_move(struct jit *j, uint64_t address, uint64_t to, uint64_t time);
/* The code that starts at @address ends at @time. */
void jit_unload(struct jit *j, uint64_t address, uint64_t time);

/* Keeps machine code and lines only while the table takes at most @bytes of memory. */
void jit_limit_detail(struct jit *j, size_t bytes);

/* Receives changes one after the other: the three functions above, with other @data. */
struct jit_sink {
	void (*load)(void *data, const struct jit_code *code);
	void (*move)(void *data, uint64_t address, uint64_t to, uint64_t time);
	void (*unload)(void *data, uint64_t address, uint64_t time);
	void *data;
};

/* The sink that fills @j. */
void jit_sink_of(struct jit *j, struct jit_sink *ret);

/* The code that was at @pc at @time, or NULL. */
const struct jit_code *jit_find(const struct jit *j, uint64_t pc, uint64_t time);

/* Number of pieces of code. */
size_t jit_count(const struct jit *j);
/* The @i-th piece in the order of loading; borrowed. */
const struct jit_code *jit_at(const struct jit *j, size_t i);
/* Bytes of memory that it takes. */
size_t jit_bytes(const struct jit *j);
/* Number of pieces that were left out. */
size_t jit_dropped(const struct jit *j);
