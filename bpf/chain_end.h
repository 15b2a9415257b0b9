/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a call chain ends where it does. The driver determines it, the event buffer and the chain
 * store record it, and reports show it. The image is that of the outermost frame.
 */
#pragma once

/* Name; number in the event buffer; name in stats/, the chain store and reports; meaning. A number
 * never changes its meaning; new ones are added at the end, without holes. */
#define CHAIN_ENDS(X)                                                                              \
	X(COMPLETE, 0, "complete", "reached the entry of the process, thread or kernel")           \
	X(UNKNOWN, 1, "unknown", "the stream does not say")                                        \
	X(DEPTH, 2, "depth", "as deep as asked for")                                               \
	X(FP_END, 3, "fp_end", "the frame pointers lead no further")                               \
	X(NO_MAPPING, 4, "no_mapping", "return address 0, or in no mapping")                       \
	X(NO_TABLE, 5, "no_table", "no unwind table and no frame pointers")                        \
	X(NO_RULE, 6, "no_rule", "the unwind table says nothing, or nothing usable, there")        \
	X(NO_BUDGET, 7, "no_budget", "unwind table left out to save memory")                       \
	X(NOT_LOADED, 8, "not_loaded", "unwind table not loaded yet")                              \
	X(UNREADABLE, 9, "unreadable", "stack memory could not be read")                           \
	X(COPY_SHORT, 10, "copy_short", "the copy of the stack ends before it")                    \
	X(NO_PROGRESS, 11, "no_progress", "a caller's frame not above the callee's")               \
	X(NO_CODE, 12, "no_code", "generated code, which has no file")                             \
	X(NO_USER, 13, "no_user", "the user's registers were not to be had")                       \
	X(NO_ROOM, 14, "no_room", "too many different call chains at a time")

enum chain_end {
#define X(name, number, text, meaning) CHAIN_END_##name = number,
	CHAIN_ENDS(X)
#undef X
		CHAIN_END_COUNT_,
	/* What a step of an unwinding returns if it found a caller; never written to a file. */
	CHAIN_GOES_ON = CHAIN_END_COUNT_
};
