/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables as user space builds them (lib/unwind/unwind.h) and both user space and BPF
 * programs look them up: arrays without pointers, which may be copied anywhere.
 *
 * An image has rows, sorted by PC, each saying from where on which rule holds; what the rules say
 * stands in one array for all images. Within an image a PC counts from the image's ->base. Rows
 * keep its low 16 bits; the pages of 64 KiB that hold the others are an index:
 *
 *	page = pc >> UNWIND_PAGE_SHIFT	       must be < page_count
 *	rows pages[page] up to pages[page + 1], at most 65,536: bisect for the last row with
 *	row.pc <= (pc & 0xffff), at most 16 steps. The first row of a page always has pc 0.
 *
 * Rule 0 says that nothing is known. How a rule is followed is in unwind_step.h. On AArch64 return
 * addresses are always stripped of pointer authentication, so that rules need not say who signs.
 */
#pragma once

#include <linux/types.h>

enum {
	UNWIND_PAGE_SHIFT = 16,
	UNWIND_RULES_MAX = 65535,
	UNWIND_SEGMENTS_MAX = 4, /* executable segments that are looked at */
};

struct unwind_row {
	__u16 pc;   /* low bits of the first PC that it is for */
	__u16 rule; /* index of the rule */
};

/* A part of an image's file that is mapped executable: byte ->offset + n of the file is PC ->pc + n
 * of the table, for n < ->size. */
struct unwind_segment {
	__u64 offset, size;
	__u64 pc;
};

/* How the CFA, which is the caller's stack pointer, is found. */
enum unwind_cfa {
	UNWIND_CFA_NONE,   /* no row: nothing is known here; base is an enum unwind_why */
	UNWIND_CFA_REG,	   /* base + cfa */
	UNWIND_CFA_DEREF,  /* [base + cfa] + add: realigned frames */
	UNWIND_CFA_PLT,	   /* sp + cfa, 8 more from byte add of a 16 byte slot on: lazy PLT */
	UNWIND_CFA_SIGNAL, /* the kernel's rt_sigframe is at sp */
	UNWIND_CFA_END,	   /* the outermost frame: it has no caller */
	UNWIND_CFA_INDEX,  /* [sp + cfa + 8 * register ->reg] + add: large numbers in OpenSSL */
};

/* Why a rule says nothing. */
enum unwind_why {
	UNWIND_WHY_NO_ROW,  /* no unwind information for this code */
	UNWIND_WHY_CFA,	    /* the CFA is an expression, or of a register, not listed above */
	UNWIND_WHY_RA,	    /* so is the place of the return address */
	UNWIND_WHY_RANGE,   /* an offset is too large or no multiple of 8 */
	UNWIND_WHY_DAMAGED, /* the instructions make no sense */
	UNWIND_WHY_FULL,    /* the array of rules is full */
	UNWIND_WHY_COUNT_
};

/* Registers that are followed from frame to frame. OTHER ones are known in the interrupted frame
 * only, where a rule names them by DWARF number in ->reg. */
enum unwind_base {
	UNWIND_BASE_SP,
	UNWIND_BASE_FP, /* rbp; x29 */
	UNWIND_BASE_BX, /* rbx, which the dynamic loader's trampolines count from; none on AArch64
			 */
	UNWIND_BASE_OTHER,
};

/* Where the caller's value of a register is. */
enum unwind_save {
	UNWIND_SAME,   /* in the register still. Of the return address: in register ->ra */
	UNWIND_AT_CFA, /* in memory at CFA + 8 * n */
	UNWIND_AT_FP,  /* in memory at this frame's fp + 8 * n */
	UNWIND_LOST,   /* nowhere */
};

/* Takes the save of one register from ->saves. */
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
	__s16 ra, fp, bx; /* n of their saves */
};

_Static_assert(sizeof(struct unwind_row) == 4, "a row is 4 bytes");
_Static_assert(sizeof(struct unwind_rule) == 16, "a rule is 16 bytes");
_Static_assert(sizeof(struct unwind_segment) == 24, "a segment is 24 bytes");
