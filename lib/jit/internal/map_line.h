/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of a perf map: START SIZE NAME, both numbers hexadecimal, as the kernel's
 * tools/perf/Documentation/jit-interface.txt describes it.
 *
 *	if (map_line_parse("7f00 40 fib", &code))
 *		...	code.address, code.size, code.name
 */
#pragma once

#include "jit/jit_code.h"

#include <stdbool.h>

/* Parses a line without its newline into these three fields; the name is borrowed from it. Returns
 * false, with @ret in any state, if it is no such line. */
bool map_line_parse(const char *line, struct jit_code *ret);
