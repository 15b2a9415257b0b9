/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where Ruby's interpreter has what its symbols do not name, because they are stripped: found by
 * what its functions refer to. Only x86-64 is known.
 *
 *	struct ruby_extent core = ruby_places_callee(ef, start, size);
 */
#pragma once

#include <stdint.h>

struct elffile;

/* A function: @bytes 0: none was found. */
struct ruby_extent {
	uint64_t start, bytes;
};

/* The largest function that the code of @bytes at @start calls, if it is far larger than usual. */
struct ruby_extent ruby_places_callee(const struct elffile *ef, uint64_t start, uint64_t bytes);
/* The address of the table of Symbols, to whose first and third word the function at @start, or one
 * that it calls, refers; 0: not found. */
uint64_t ruby_places_symbols(const struct elffile *ef, uint64_t start, uint64_t bytes);
/* The address at which the dynamic linker stores the number of the file's thread-local storage; 0:
 * there is none. */
uint64_t ruby_places_module(const struct elffile *ef);
