/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What reports make of the reason why a chain ends: its name, its meaning and its mark, and whether
 * the functions of the chain show that it is complete after all. All that is returned is static.
 *
 *	uint32_t end = chain_ends_find("fp_end");
 *	if (chain_ends_in_doubt(end) && chain_ends_is_entry("_start"))
 *		end = CHAIN_END_COMPLETE;
 *	if (chain_ends[end].mark)
 *		puts(chain_ends[end].mark);
 */
#pragma once

#include "unwind/chain_end_name.h"

#include <stdbool.h>
#include <stdint.h>

/* A reason why chains end, as in bpf/chain_end.h. */
struct chains_end {
	const char *name, *meaning; /* "copy_short", in words */
	const char *mark; /* "[copy_short]", in place of the callers; NULL: the chain is complete */
	uint64_t samples;
};

/* By number, each with 0 samples. */
extern const struct chains_end chain_ends[CHAIN_END_COUNT_];

/* Returns the number of the end with this name; CHAIN_END_UNKNOWN if there is none. */
uint32_t chain_ends_find(const char *name);
/* Returns whether the functions of a chain may show better why it ends than the recorded reason. */
bool chain_ends_in_doubt(uint32_t end);
/* Returns whether nothing calls the function with this linker name: it is the outermost of a
 * process, a thread or a stack. */
bool chain_ends_is_entry(const char *symbol);
