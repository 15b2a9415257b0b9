/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call frame information as it stands in .eh_frame and .debug_frame: records (CIEs, and FDEs that
 * refer to them), each with a program for a small machine (cfi_program.h). All of it is foreign
 * input; it is borrowed and must outlive the struct cfi.
 *
 *	struct cfi cfi = { .bytes = span_of(data, size), .address = address };
 *	for (offset = 0; cfi_read(&cfi, offset, &fde, &offset) > 0;)
 *		...
 *	cfi_done(&cfi);
 */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/span.h"
#include "bpf/unwind_row.h"
#include "bpf/unwind_step.h"

#include <stdbool.h>

/* What holds at a place of a program: the rule, and why it can not be used where it cannot. */
struct cfi_state {
	union {
		struct unwind_rule rule;
		uint64_t words[2]; /* the same, to be changed in registers */
	};
	union {
		uint32_t special; /* 0: the rule is as it stands there */
		struct {
			uint8_t cfa_why; /* enum unwind_why, 0: the CFA is fine */
			uint8_t ra_why;	 /* likewise the return address */
			bool outermost;	 /* the return address is undefined: no caller */
			bool signal;	 /* of a frame that the kernel made */
		};
	};
};

struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;	  /* number of the return address's register */
	uint8_t encoding; /* of addresses in FDEs: DW_EH_PE_* */
	bool augmented;	  /* FDEs have augmentation data */
	bool signal;	  /* describes frames that the kernel made for signals */
	bool is_usual;	  /* FDEs are as .eh_frame mostly has them: see cfi_read() */
	bool is_quick;	  /* both alignments are small, and ->data_align whole words */
	struct span program;
	uint8_t which[64];	  /* enum cfi_which of registers, as far as they go */
	struct cfi_state initial; /* what holds at the start of each function */
};

struct cfi_fde {
	uint64_t start, end; /* linked addresses, end excluded */
	struct span program;
	const struct cfi_cie *cie; /* the cfi's */
};

struct cfi {
	struct span bytes; /* the section */
	uint64_t address;  /* where it is linked to */
	bool debug;	   /* is .debug_frame */
	enum unwind_machine machine;
	struct map cies; /* struct cfi_cie by offset; filled as they are met */
	struct arena arena;
	const struct cfi_cie *last; /* the one looked up last */
	uint64_t last_offset;
};

/* Reads the FDE whose record starts at @offset. 1; 0 if that is no FDE (a CIE, a terminator);
 * -EBADMSG. *ret_next, set unless the length itself makes no sense (then it is SIZE_MAX), is where
 * the next record starts. */
int cfi_read(struct cfi *cfi, size_t offset, struct cfi_fde *ret, size_t *ret_next);
/* Frees what it made; the bytes stay. */
void cfi_done(struct cfi *cfi);

/* Reads an address written in @encoding (DW_EH_PE_*) from @in, whose next byte is linked to @here;
 * what is relative to data is so to @data. 0 or -EBADMSG. */
int cfi_pointer(struct span *in, uint8_t encoding, uint64_t here, uint64_t data, uint64_t *ret);
