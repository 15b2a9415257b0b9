/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reasons why the samples of an image have no symbols. Rows without symbols are of these kinds
 * (rows/container.h).
 *
 *	if (!binary.symtab && binary.why == BINARY_CHANGED)
 *		puts("another file is there now");
 */
#pragma once

/* Each with the text that is shown instead of a symbol's name. */
#define BINARY_WHYS(X)                                                                             \
	X(NO_SYMBOLS, "(no symbols)")	     /* its file has none */                               \
	X(NO_FILE, "(file not found)")	     /* there is no file */                                \
	X(UNREADABLE, "(file not readable)") /* no permission, or not an ELF file */               \
	X(CHANGED, "(file has changed)")     /* the file is not the one that was profiled */       \
	X(ANONYMOUS, "(anonymous memory)")   /* never had a file */

enum binary_why {
#define X(why, text) BINARY_##why,
	BINARY_WHYS(X)
#undef X
};
