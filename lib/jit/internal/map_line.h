/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of a perf map: START SIZE NAME, both numbers hexadecimal, as the kernel's
 * tools/perf/Documentation/jit-interface.txt describes it.
 *
 *	char line[] = "7f00 40 fib";
 *	if (map_line_parse(line, &code))
 *		...	code.address, code.size, code.name
 */
#pragma once

#include "jit/jit_code.h"

#include <stdbool.h>

/* Parses a line without its newline into these three fields. The name is borrowed from it; the
 * address of a class that Java made at run time, which differs in each process, is cut out of it.
 * Returns false, with @ret in any state, if it is no such line. */
bool map_line_parse(char *line, struct jit_code *ret);
