/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the stacks begin that glibc's clone(), clone3() and makecontext() set up. The code there is
 * known by its bytes, because its call frame information, if any, is that of an ordinary function.
 *
 *	rule = stack_bottom_of_clone(machine, gap);
 *	if (rule || stack_bottom_is_context(machine, code))
 *		...
 */
#pragma once

#include "base/span.h"
#include "bpf/unwind_step.h"

#include <stdbool.h>

/* The rule for @gap, code between two functions, if it is what follows in clone() and clone3() once
 * the kernel has returned, in the parent and in the child; else NULL. Static. */
const struct unwind_rule *stack_bottom_of_clone(enum unwind_machine machine, struct span gap);

/* Whether a function that starts with @code is the one to which the function of makecontext()
 * returns at its end: nothing ever calls it. */
bool stack_bottom_is_context(enum unwind_machine machine, struct span code);
