/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where Ruby's interpreter has what its symbols do not name, because they are stripped: found by
 * what its functions refer to. Only x86-64 is known.
 *
 *	struct ruby_extent core = ruby_places_callee(ef, start, size);
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct elffile;

/* A function: @bytes 0: none was found. */
struct ruby_extent {
	uint64_t start, bytes;
};

/* The largest function that the code of @bytes at @start calls, if it is far larger than usual. */
struct ruby_extent ruby_places_callee(const struct elffile *ef, uint64_t start, uint64_t bytes);
/* The loop that runs instructions, and the function that calls it, which the code of @bytes at
 * @start leads to by few calls. Returns false if there is none. */
bool ruby_places_loop(const struct elffile *ef, uint64_t start, uint64_t bytes,
		      struct ruby_extent *ret_loop, struct ruby_extent *ret_core);
/* Stores the offset of the variable that a library's function of @bytes at @start reads first, in
 * the part of a thread's variables that is the library's. Returns false if that is not seen. */
bool ruby_places_variable(const struct elffile *ef, uint64_t start, uint64_t bytes, uint64_t *ret);
/* The address of the table of Symbols, to whose first and third word the function at @start, or one
 * that it calls, refers; 0: not found. */
uint64_t ruby_places_symbols(const struct elffile *ef, uint64_t start, uint64_t bytes);
/* The address at which the dynamic linker stores the number of the file's thread-local storage; 0:
 * there is none. */
uint64_t ruby_places_module(const struct elffile *ef);
