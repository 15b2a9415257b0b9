/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of an image of which it is known how to unwind them: those with FDEs in .eh_frame
 * (found through .eh_frame_hdr, or by reading all of it) or .debug_frame, those of a Go program
 * (gosym/gosym.h), and a few that are recognised without any of these.
 *
 *	struct unwind_functions f = { .ef = ef, .machine = machine, .base = base, .top = top };
 *	const struct unwind_rule *rule;
 *	struct cfi_fde fde;
 *	size_t i;
 *
 *	unwind_functions_find(&f);
 *	for (i = 0; i < f.count; i++)
 *		if (unwind_functions_read(&f, i, &fde, &rule))
 *			printf("%#" PRIx64 "\n", f.all[i].start);
 *	unwind_functions_done(&f);
 */
#pragma once

#include "bpf/unwind_step.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi;
struct cfi_fde;
struct elffile;
struct gosym;
struct span;

/* Where a function is described; if by nothing, one rule is known for all of it. Of two functions
 * with the same start the first in this order is kept. */
enum unwind_source {
	UNWIND_SOURCE_EH,
	UNWIND_SOURCE_NONE,
	UNWIND_SOURCE_GO,
	UNWIND_SOURCE_DEBUG,
};

/* Small, because there are many: FDEs are read when their rows are written. */
struct unwind_function {
	uint64_t start;	 /* linked address */
	uint32_t offset; /* of the FDE in its section; or the index in ->bare or ->go */
	uint32_t source;
};

/* A function with one rule. */
struct unwind_bare {
	uint64_t end; /* linked address */
	const struct unwind_rule *rule;
};

struct unwind_functions {
	struct elffile *ef; /* borrowed */
	enum unwind_machine machine;
	uint64_t base, top;	     /* linked address of PC 0, and the PC where code ends */
	struct cfi *eh, *debug;	     /* .eh_frame and .debug_frame */
	struct gosym *go;	     /* NULL if it is no Go program */
	struct unwind_function *all; /* sorted by start; all starts differ */
	size_t count, room;
	struct unwind_bare *bare;
	size_t bare_count, bare_room;
	size_t cfi_bytes; /* of both sections */
	size_t bad_count; /* damaged records */
};

/* Finds all functions between ->base and ->top. The caller has set ->ef, ->machine and these. */
void unwind_functions_find(struct unwind_functions *f);
/* Reads the description of the @i-th function: either an FDE, with *@ret_rule NULL (of
 * UNWIND_SOURCE_GO only its start and end), or one rule for all of it, with the function's end in
 * @ret->end. False if it is damaged. */
bool unwind_functions_read(struct unwind_functions *f, size_t i, struct cfi_fde *ret,
			   const struct unwind_rule **ret_rule);
/* Where the function ends that contains the linked @address. If none does, false, and where the
 * next one starts, or UINT64_MAX. */
bool unwind_functions_end(struct unwind_functions *f, uint64_t address, uint64_t *ret);
/* Stores the bytes of the file from the linked @address on, to the end of the file; they belong to
 * ->ef. False if the file has none. */
bool unwind_functions_bytes(const struct unwind_functions *f, uint64_t address, struct span *ret);
/* Frees all but the elffile. */
void unwind_functions_done(struct unwind_functions *f);
