/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row of the line table of an interpreted function, whatever its language.
 *
 *	struct function_line rows[] = { { 0, 12 }, { 8, 13 } };
 */
#pragma once

#include <stdint.h>

/* The bytecode from ->offset on, up to the next row, is in ->line. */
struct function_line {
	uint32_t offset; /* in the units of the language */
	uint32_t line;
};
