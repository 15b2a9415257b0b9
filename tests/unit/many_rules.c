/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code with 3000 unwind rules, each of which has its number in three bytes of LEB128. They are all
 * the same; tests write others over them. */
__asm__(".text\n"
	".globl many_rules\n"
	".type many_rules, %function\n"
	"many_rules:\n"
	".cfi_startproc\n"
	".rept 3000\n"
	"nop\n"
	".cfi_escape 0x0e, 0xff, 0xff, 0x01\n" /* DW_CFA_def_cfa_offset */
	".endr\n"
	".cfi_endproc\n"
	".size many_rules, . - many_rules\n");
