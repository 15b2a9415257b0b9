/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads call frame information, the DWARF description of how to find each function's caller, from
 * .eh_frame or .debug_frame: CIEs, and FDEs that refer to them (cfi_types.h). The bytes are foreign
 * input; they are borrowed and must outlive the struct cfi.
 *
 *	struct cfi cfi = { .bytes = span_of(data, size), .address = address };
 *	struct cfi_fde fde;
 *	size_t offset, next;
 *
 *	for (offset = 0; offset < size; offset = next)
 *		if (cfi_read(&cfi, offset, &fde, &next) > 0)
 *			cfi_program_run(&fde, UNWIND_X86_64, &rows);
 *	cfi_done(&cfi);
 */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/span.h"
#include "bpf/unwind_step.h"
#include "unwind/internal/cfi_types.h"

#include <stdbool.h>

struct cfi {
	struct span bytes; /* the section */
	uint64_t address;  /* where it is linked to */
	bool debug;	   /* is .debug_frame */
	enum unwind_machine machine;
	struct map cies; /* struct cfi_cie by offset, of those read so far */
	struct arena arena;
	const struct cfi_cie *last; /* looked up last */
	uint64_t last_offset;
};

/* Reads the FDE at @offset. Returns 1, 0 if another record is there (a CIE, a terminator), or
 * -EBADMSG. Sets *@ret_next to where the next record starts, SIZE_MAX if the length is damaged. */
int cfi_read(struct cfi *cfi, size_t offset, struct cfi_fde *ret, size_t *ret_next);
/* Frees all but the bytes. */
void cfi_done(struct cfi *cfi);

/* Reads an address encoded as @encoding (DW_EH_PE_*) from @in. @here is the linked address of its
 * first byte, for PC-relative ones; data-relative ones are relative to @data. 0 or -EBADMSG. */
int cfi_pointer(struct span *in, uint8_t encoding, uint64_t here, uint64_t data, uint64_t *ret);
