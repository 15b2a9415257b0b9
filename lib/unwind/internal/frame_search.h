/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searches code that nothing describes for instructions that make a frame. What a section says is
 * data is left out: linkers put tens of megabytes of it into the segments that hold code.
 *
 *	if (frame_search(ef, UNWIND_X86_64, from, to))
 *		...	the frame pointer leads to the caller
 */
#pragma once

#include "bpf/unwind_step.h"

#include <stdbool.h>
#include <stdint.h>

struct elffile;

/* Whether some instruction between the linked addresses @from and @to makes a frame: sets the frame
 * pointer from the stack pointer. */
bool frame_search(const struct elffile *ef, enum unwind_machine machine, uint64_t from,
		  uint64_t to);
