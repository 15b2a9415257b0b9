/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of unwind tables, which user space builds (lib/unwind/unwind.h) and user space and BPF
 * programs search: arrays without pointers, which can be copied anywhere.
 *
 * An image has rows, sorted by PC. Each names the rule that applies from its PC on; the rules of
 * all images are in one array. PCs are relative to the image's ->base. A row has only the low 16
 * bits of its PC; the others are the index of a page of 64 KiB:
 *
 *	page = pc >> UNWIND_PAGE_SHIFT	       must be < page_count
 *	rows pages[page] up to pages[page + 1], at most 65,536: bisect for the last row with
 *	row.pc <= (pc & 0xffff), at most 16 steps. The first row of a page always has pc 0.
 *
 * Rule 0 means unknown. unwind_step.h applies rules. A word has 8 bytes, on i386 4. On AArch64
 * pointer authentication is always stripped from return addresses, so rules need not record which
 * functions sign them.
 */
#pragma once

#include <linux/types.h>

enum {
	UNWIND_PAGE_SHIFT = 16,
	UNWIND_RULES_MAX = 65535,
	UNWIND_SEGMENTS_MAX = 4, /* executable segments that are used */
};

struct unwind_row {
	__u16 pc;   /* low bits of the first PC that it applies to */
	__u16 rule; /* index of the rule */
};

/* A part of an image's file that is mapped executable: byte ->offset + n of the file is PC ->pc + n
 * of the table, for n < ->size. */
struct unwind_segment {
	__u64 offset, size;
	__u64 pc;
};

/* How to find the CFA, which is the caller's stack pointer. */
enum unwind_cfa {
	UNWIND_CFA_NONE,  /* no row: unknown; base is an enum unwind_why */
	UNWIND_CFA_REG,	  /* base + cfa */
	UNWIND_CFA_DEREF, /* [base + cfa] + add: realigned frames */
	UNWIND_CFA_PLT,	  /* sp + cfa, a word more from byte `add` of a 16-byte slot on: lazy PLT */
	UNWIND_CFA_SIGNAL, /* the kernel's rt_sigframe is at sp; on i386 the context, at sp + cfa */
	UNWIND_CFA_END,	   /* the outermost frame: it has no caller */
	UNWIND_CFA_INDEX,  /* [sp + cfa + 8 * register ->reg] + add: large numbers in OpenSSL */
	UNWIND_CFA_STACK,  /* base + cfa, on another stack that called this one: Go's */
	UNWIND_CFA_CHILD,  /* sp + cfa; but no caller if register 0 is 0: the child of a clone */
	UNWIND_CFA_GUESS,  /* base + cfa, if it looks like a frame: never in a table */
};

/* Why a rule is empty. */
enum unwind_why {
	UNWIND_WHY_NO_ROW,   /* no unwind information for this code */
	UNWIND_WHY_CFA,	     /* the CFA is an expression, or of a register, not listed above */
	UNWIND_WHY_RA,	     /* the same, of the place of the return address */
	UNWIND_WHY_RANGE,    /* an offset is too large, or not a multiple of a word */
	UNWIND_WHY_DAMAGED,  /* the instructions are invalid */
	UNWIND_WHY_FULL,     /* the array of rules is full */
	UNWIND_WHY_NO_FRAME, /* the same as NO_ROW, and this code makes no frame of its own */
	UNWIND_WHY_COUNT_
};

/* The register that a CFA is based on. Those listed are tracked from frame to frame; OTHER ones are
 * known in the interrupted frame only, and ->reg has their DWARF number. */
enum unwind_base {
	UNWIND_BASE_SP,
	UNWIND_BASE_FP, /* rbp; ebp; x29 */
	UNWIND_BASE_BX, /* rbx, which the dynamic loader's trampolines use; none on AArch64
			 */
	UNWIND_BASE_OTHER,
};

/* Where the caller's value of a register is. */
enum unwind_save {
	UNWIND_SAME,   /* still in the register. The return address: in register ->ra */
	UNWIND_AT_CFA, /* in memory at CFA + n words */
	UNWIND_AT_FP,  /* in memory at this frame's fp + n words */
	UNWIND_LOST,   /* nowhere */
};

/* Extracts the enum unwind_save of one register from ->saves. */
#define UNWIND_SAVE_FP(saves)	 ((saves)&3)
#define UNWIND_SAVE_BX(saves)	 ((saves) >> 2 & 3)
#define UNWIND_SAVE_RA(saves)	 ((saves) >> 4 & 3)
#define UNWIND_SAVES(fp, bx, ra) ((__u8)((fp) | (bx) << 2 | (ra) << 4))

struct unwind_rule {
	__u8 cfa;	  /* enum unwind_cfa */
	__u8 base;	  /* enum unwind_base; with UNWIND_CFA_NONE an enum unwind_why */
	__u8 saves;	  /* UNWIND_SAVES() */
	__u8 reg;	  /* DWARF number of base OTHER */
	__s32 cfa_offset; /* bytes */
	__s16 cfa_add;	  /* bytes */
	__s16 ra, fp, bx; /* the n of UNWIND_AT_CFA and UNWIND_AT_FP */
};

_Static_assert(sizeof(struct unwind_row) == 4, "a row is 4 bytes");
_Static_assert(sizeof(struct unwind_rule) == 16, "a rule is 16 bytes");
_Static_assert(sizeof(struct unwind_segment) == 24, "a segment is 24 bytes");
