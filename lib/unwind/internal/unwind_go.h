/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How to unwind Go's code, whose table of functions says at each instruction by how much the stack
 * pointer has moved (gosym/gosym.h).
 *
 *	const struct unwind_rule *rule = NULL;
 *	start -= unwind_go_rule(machine, "runtime.goexit", &rule);
 *	if (!rule)
 *		unwind_go_write(go, i, machine, rows);
 */
#pragma once

#include "bpf/unwind_step.h"

#include <stddef.h>
#include <stdint.h>

struct gosym;
struct unwind_rows;

/* Stores in *@ret the rule for all code of the function @name of Go's run-time system, if that is
 * one which enters a stack; else leaves it alone. Returns the number of bytes before the function
 * to which the rule applies, too. */
uint64_t unwind_go_rule(enum unwind_machine machine, const char *name,
			const struct unwind_rule **ret);
/* Writes the rows of the @i-th function. */
void unwind_go_write(const struct gosym *go, size_t i, enum unwind_machine machine,
		     struct unwind_rows *rows);
