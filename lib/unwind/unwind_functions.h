/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of an image that something is known of: FDEs of .eh_frame, found by .eh_frame_hdr
 * or by going through all, FDEs of .debug_frame, and the little that is known without either.
 *
 *	struct unwind_functions f = { .ef = ef, .machine = machine, .base = base, .top = top };
 *	unwind_functions_find(&f);
 *	for (i = 0; i < f.count; i++)
 *		if (unwind_functions_read(&f, i, &fde, &rule))
 *			...
 *	unwind_functions_done(&f);
 */
#pragma once

#include "unwind/internal/cfi.h"
#include "elf/elffile.h"

/* Where what is known of a function stands. Of two with one start, the first counts. */
enum unwind_source {
	UNWIND_SOURCE_EH,
	UNWIND_SOURCE_DEBUG,
	UNWIND_SOURCE_ENTRY,
	UNWIND_SOURCE_TRAMPOLINE
};

/* Small, for there are many: FDEs are read when their rows are written. */
struct unwind_function {
	uint64_t start;	 /* linked address */
	uint32_t offset; /* of the FDE in its section; of others how many bytes there are */
	uint32_t source;
};

struct unwind_functions {
	struct elffile *ef; /* borrowed */
	enum unwind_machine machine;
	uint64_t base, top; /* linked address of PC 0, and the PC where code ends */
	struct cfi eh, debug;
	struct unwind_function *all; /* sorted by start, no two with one */
	size_t count, room;
	size_t cfi_bytes; /* of both sections */
	size_t bad_count; /* records that make no sense */
};

/* Finds all functions between ->base and ->top, whose fields the caller has set. */
void unwind_functions_find(struct unwind_functions *f);
/* Reads what is known of the @i-th: its end in @ret->end and the rule that holds for all of it, or,
 * with *@ret_rule NULL, an FDE. False if that is not what it should be. */
bool unwind_functions_read(struct unwind_functions *f, size_t i, struct cfi_fde *ret,
			   const struct unwind_rule **ret_rule);
/* Frees all but the elffile. */
void unwind_functions_done(struct unwind_functions *f);
