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
	X(UNKNOWN, 1, "unknown", "not recorded in the stream")                                     \
	X(DEPTH, 2, "depth", "reached the requested depth")                                        \
	X(FP_END, 3, "fp_end", "the frame pointers end there")                                     \
	X(NO_MAPPING, 4, "no_mapping", "return address 0, or in no mapping")                       \
	X(NO_TABLE, 5, "no_table", "no unwind table and no frame pointers")                        \
	X(NO_RULE, 6, "no_rule", "the unwind table has no usable rule there")                      \
	X(NO_BUDGET, 7, "no_budget", "unwind table left out to save memory")                       \
	X(NOT_LOADED, 8, "not_loaded", "unwind table not loaded yet")                              \
	X(UNREADABLE, 9, "unreadable", "stack memory could not be read")                           \
	X(COPY_SHORT, 10, "copy_short", "the copy of the stack is too short")                      \
	X(NO_PROGRESS, 11, "no_progress", "a caller's frame is not above the callee's")            \
	X(NO_CODE, 12, "no_code", "JIT code, which has no file")                                   \
	X(NO_USER, 13, "no_user", "the user-space registers were not available")                   \
	X(NO_ROOM, 14, "no_room", "too many different call chains at once")                        \
	X(BITS_32, 15, "32_bit", "a 32-bit Arm program, whose stack is not walked")                \
	X(SIGNAL, 16, "signal", "frame pointers skip the function that a signal interrupted")      \
	X(MOVED, 17, "moved", "text that was moved to memory, before it was compared with its file")

enum chain_end {
#define X(name, number, text, meaning) CHAIN_END_##name = number,
	CHAIN_ENDS(X)
#undef X
		CHAIN_END_COUNT_,
	/* What a step of an unwinding returns if it found a caller; never written to a file. */
	CHAIN_GOES_ON = CHAIN_END_COUNT_
};
