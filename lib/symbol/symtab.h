/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols of one image, sorted by offset, so that sorted sample offsets can be merged with them
 * in one pass. The table borrows names; symtab_hold() gives it the memory that they are in. A table
 * is filled, settled, and then searched.
 *
 *	struct symtab *st = symtab_new();
 *	elfsym_load(ef, NULL, ELFSYM_FILE_OFFSET, st);
 *	symtab_settle(st);
 *	const struct symbol *sym = symtab_find(st, offset);
 *	symtab_free(st);
 *
 * Settling makes the symbols unique and disjoint:
 *  - Of symbols with the same offset one is kept. Preferred are, in this order, global over local
 *    ones, ones without leading underscore, strong over weak ones, ones with a size, those added
 *    first.
 *  - A symbol without size extends to the next one, or to its limit (the end of its section, or
 *    the code of another function: elfcode.h).
 *  - A symbol without size inside one with a size is a label and is dropped.
 *  - A symbol with a size inside a longer one splits that into pieces; ->whole says which pieces
 *    belong together.
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbol_rank {
	SYMBOL_LOCAL = 1, /* not visible outside its file */
	SYMBOL_WEAK = 2,
	SYMBOL_SYNTHETIC = 4,	/* made up by us (a PLT entry): gives way to any other */
	SYMBOL_ASSUMED_END = 8, /* set by settling: it had no size */
	SYMBOL_GO = 16		/* the Go compiler made its code */
};

struct symbol {
	uint64_t offset;   /* of its first byte, in the unit of the image's samples */
	uint64_t end;	   /* after its last byte; before settling, offset means: no size */
	uint64_t limit;	   /* the highest end possible if it has no size */
	uint64_t address;  /* as linked; shown to people */
	const char *name;  /* as in the file: not demangled */
	uint32_t whole;	   /* set by settling: index of the first piece, its own if it is one */
	unsigned int rank; /* enum symbol_rank */
};

struct symtab;

/* The source of a table whose symbols are made on demand. */
struct symtab_source {
	size_t count;
	const uint64_t *ends; /* of each symbol, as in ->end; ascending */
	/* Makes the @i-th symbol, never without a name. */
	void (*read)(void *data, size_t i, struct symbol *ret);
	void *data;
};

/* An empty table; caller frees. */
struct symtab *symtab_new(void);
/* A settled table that makes its symbols on demand from @source, which must live as long (see
 * symtab_hold()). Caller frees. */
struct symtab *symtab_new_from(const struct symtab_source *source);
/* Frees the table and what symtab_hold() gave it; NULL is fine. */
void symtab_free(struct symtab *st);
DEFINE_CLEANUP(struct symtab *, symtab_free);

/* Adds a symbol; its name is borrowed. Only before symtab_settle(). */
void symtab_add(struct symtab *st, const struct symbol *symbol);
/* Takes @owned, the memory that names point into; @release frees it along with the table. */
void symtab_hold(struct symtab *st, void *owned, void (*release)(void *));
/* The highest end possible of a symbol without a size. */
typedef uint64_t symtab_limiter(const struct symbol *symbol, void *data);
/* Lowers the limits of all symbols without a size to what @limit returns. Only before
 * symtab_settle(). */
void symtab_limit(struct symtab *st, symtab_limiter *limit, void *data);
/* Sorts, drops aliases and bounds sizes, by the rules above. */
void symtab_settle(struct symtab *st);

/* Ends the @i-th symbol of a settled table, one with SYMBOL_ASSUMED_END, after @size bytes. */
void symtab_shorten(struct symtab *st, size_t i, uint64_t size);
/* Inserts @count symbols, sorted and disjoint, into gaps of a settled table. Not for a table of
 * symtab_new_from(). */
void symtab_insert(struct symtab *st, const struct symbol *symbols, size_t count);

/* Number of symbols (pieces, once settled). */
size_t symtab_count(const struct symtab *st);
/* The @i-th symbol; borrowed. Not thread-safe. */
const struct symbol *symtab_at(const struct symtab *st, size_t i);
/* The symbol that contains @offset, or NULL; only after symtab_settle(). */
const struct symbol *symtab_find(const struct symtab *st, uint64_t offset);
/* How code came to be a frame of a call chain. */
enum code_role {
	CODE_SAMPLED, /* it was about to execute: the frame's offset is the instruction's */
	CODE_ENTERED, /* it entered the kernel, or was interrupted, and goes on at the offset */
	CODE_CALLED,  /* it called, and the call returns to the offset */
	CODE_ROLE_COUNT_,
};

/* The offset of the code of a frame with @offset. Of code that entered the kernel that is @offset
 * or, if a symbol ends there and no other begins, before it: its last instruction is then a system
 * call that does not return, as of rt_sigreturn(2). A call is before the address that it returns
 * to, unless no symbol is there and one begins at @offset. Then nothing called: makecontext(3) has
 * a function return to the start of another. */
uint64_t symtab_code_at(const struct symtab *st, uint64_t offset, enum code_role role);
/* Sets *@offset to that, and returns the symbol there, as symtab_find() does. */
const struct symbol *symtab_find_code(const struct symtab *st, uint64_t *offset,
				      enum code_role role);
/* Index of the first symbol that ends after @offset, symtab_count() if there is none. The search
 * starts at index @from and is fast if the result is near. Only after symtab_settle(). */
size_t symtab_seek(const struct symtab *st, size_t from, uint64_t offset);
