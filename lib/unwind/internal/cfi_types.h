/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of call frame information, as read by cfi.h and run by cfi_program.h: a CIE has what many
 * functions have in common, an FDE describes one function. Each has a program for a small machine.
 */
#pragma once

#include "base/span.h"
#include "bpf/unwind_row.h"

#include <stdbool.h>

/* The state of a program: the current rule, and why it cannot be used if it cannot. */
struct cfi_state {
	union {
		struct unwind_rule rule;
		uint64_t words[2]; /* the same, for cfi_quick.c */
	};
	union {
		uint32_t special; /* 0: the rule is usable as it is */
		struct {
			uint8_t cfa_why; /* enum unwind_why; 0: the CFA is usable */
			uint8_t ra_why;	 /* the same for the return address */
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
	bool signal;	  /* describes signal frames, made by the kernel */
	bool is_usual;	  /* FDEs have the usual form of .eh_frame: see read_usual() in cfi.c */
	bool is_quick;	  /* alignments are small, ->data_align in whole words: see cfi_quick.h */
	struct span program;
	uint8_t which[64];	  /* enum cfi_which of the first registers */
	struct cfi_state initial; /* at the start of each function */
};

struct cfi_fde {
	uint64_t start, end; /* linked addresses, end excluded */
	struct span program;
	const struct cfi_cie *cie; /* the cfi's */
};
