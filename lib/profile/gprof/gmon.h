/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gmon.out: the file that a program built with -pg writes and gprof(1) reads. A histogram of 16-bit
 * counts over two-byte bins, and call arcs, in the word size and byte order of the program.
 *
 *	struct gmon g = { .is_64 = true };
 *	gmon_add_samples(&g, address, low, high, count);
 *	gmon_add_arc(&g, from, self, count);
 *	gmon_write(&g, out);
 *	gmon_done(&g);
 *
 * A 16-bit count is not enough for a hot instruction. gprof adds up histograms of one range, so a
 * larger count gets as many histograms of its own as necessary, at most GMON_REPEATS_MAX; the rest
 * is counted as capped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { GMON_REPEATS_MAX = 16384 }; /* histograms of one bin: a thousand million samples */

struct gmon_bin {
	uint64_t index; /* address / 2 */
	uint64_t count;
};

struct gmon_arc {
	uint64_t from, self, count;
};

struct gmon {
	bool is_64, big_endian;
	struct gmon_bin *bins;
	size_t bin_count, bin_room;
	struct gmon_arc *arcs;
	size_t arc_count, arc_room;
	uint64_t capped; /* set by gmon_write(): samples that did not fit */
};

/* Counts @count samples at @address of a symbol from @low to (without) @high: in the bin of the
 * address, or in its neighbour if gprof would attribute the bin to another symbol. */
void gmon_add_samples(struct gmon *g, uint64_t address, uint64_t low, uint64_t high,
		      uint64_t count);
/* Counts @count calls from the instruction at @from to the function that starts at @self. */
void gmon_add_arc(struct gmon *g, uint64_t from, uint64_t self, uint64_t count);
/* Sorts what was added and writes the file; errors stay in @out (ferror()). */
void gmon_write(struct gmon *g, FILE *out);
/* Frees what was added. */
void gmon_done(struct gmon *g);

/* Returns whether gprof accepts a function of this name. It ignores names with a dollar sign, and
 * with a dot unless only digits follow, or "clone." or "constprop." and digits; it then attributes
 * the function's code to the preceding one. After a name that ends in such digits it also looks at
 * the next name in the string table (binutils 2.40), so @next, that name, must have neither dot nor
 * dollar sign. NULL: unknown; such a name is then rejected. */
bool gmon_name_is_known(const char *name, const char *next);
