/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a C library that does not describe its code calls the function of a program or a thread,
 * and then ends it: musl's. Nothing that called this code is ever returned to.
 *
 *	struct stack_exits exits;
 *
 *	if (stack_exits_find(ef, machine, &exits))
 *		while (stack_exits_next(&exits, &code, &address, &start, &bytes))
 *			...			@bytes at @start begin a stack
 */
#pragma once

#include "base/span.h"
#include "bpf/unwind_step.h"

#include <stdbool.h>

struct elffile;

enum { STACK_EXITS_MAX = 2 };

/* The functions that end a process or a thread. */
struct stack_exits {
	uint64_t address[STACK_EXITS_MAX]; /* 0: none */
};

/* Finds them in an image that may be such a library, or a program with one in it: it has no dynamic
 * loader, or is it. False if there are none. */
bool stack_exits_find(const struct elffile *ef, enum unwind_machine machine,
		      struct stack_exits *ret);
/* Searches *@code, which begins at *@address, for an indirect call whose result one of the
 * functions takes. Stores where, from the last byte of that call on, and how many bytes this is;
 * moves *@code beyond. False if there is none. */
bool stack_exits_next(const struct stack_exits *exits, struct span *code, uint64_t *address,
		      uint64_t *ret_start, uint64_t *ret_bytes);
