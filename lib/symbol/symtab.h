/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols of one image, sorted by where their code lies, so that sorted sample offsets can be
 * merged with them in one pass. Names are borrowed by the table: whoever fills it hands over with
 * symtab_hold() what they live in. Once settled the table does not change.
 *
 *	struct symtab *st = symtab_new();
 *	elfsym_load(ef, NULL, ELFSYM_FILE_OFFSET, st);
 *	symtab_settle(st);
 *	const struct symbol *sym = symtab_find(st, offset);
 *	symtab_free(st);
 *
 * What settling decides, where a file says more than one thing of a place:
 *  - Of several symbols that start at one offset one stays: a visible one before a local one, one
 *    without leading underscore before one with, a strong one before a weak one, one with a size
 *    before one without, then the one added first.
 *  - A symbol without size reaches up to the next one, or to its limit (the end of its section).
 *  - A symbol without size inside one with a size is a label and goes.
 *  - A sized symbol inside a longer one cuts that in pieces; ->whole says which pieces are one.
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbol_rank {
	SYMBOL_LOCAL = 1, /* not visible outside its file */
	SYMBOL_WEAK = 2,
	SYMBOL_SYNTHETIC = 4 /* made up by us (a PLT entry): gives way to any other */
};

struct symbol {
	uint64_t offset;   /* of its first byte, in the unit of the image's samples */
	uint64_t end;	   /* behind its last byte; before settling, offset: no size known */
	uint64_t limit;	   /* where it ends at the latest if no size is known */
	uint64_t address;  /* as linked; what people are shown */
	const char *name;  /* as in the file: not demangled */
	uint32_t whole;	   /* set by settling: index of the first piece, its own if it is one */
	unsigned int rank; /* enum symbol_rank */
};

struct symtab;

/* Where a table's symbols come from that are made when they are asked for. */
struct symtab_source {
	size_t count;
	const uint64_t *ends; /* of each symbol, as in ->end; ascending */
	/* Makes the @i-th symbol, never without a name. */
	void (*read)(void *data, size_t i, struct symbol *ret);
	void *data;
};

/* An empty table; caller frees. */
struct symtab *symtab_new(void);
/* A settled table whose symbols come from @source, which must live as long (symtab_hold()). A
 * symbol is made at its first question, so that what nobody asks for costs nothing. */
struct symtab *symtab_new_from(const struct symtab_source *source);
/* Frees the table and what it holds; NULL is fine. */
void symtab_free(struct symtab *st);
DEFINE_CLEANUP(struct symtab *, symtab_free);

/* Adds a symbol; its name is borrowed. Only before symtab_settle(). */
void symtab_add(struct symtab *st, const struct symbol *symbol);
/* Takes @owned, to be released by @release when the table goes: memory that names point into. */
void symtab_hold(struct symtab *st, void *owned, void (*release)(void *));
/* Sorts, drops aliases and bounds sizes, by the rules above. */
void symtab_settle(struct symtab *st);

/* Puts @count symbols, sorted, disjoint, into gaps of the settled table, which is none that was
 * made by symtab_new_from(). */
void symtab_insert(struct symtab *st, const struct symbol *symbols, size_t count);

/* Number of symbols (pieces, once settled). */
size_t symtab_count(const struct symtab *st);
/* The @i-th of them; borrowed. No table may be asked by two threads at a time. */
const struct symbol *symtab_at(const struct symtab *st, size_t i);
/* The symbol that holds @offset, or NULL; only after symtab_settle(). */
const struct symbol *symtab_find(const struct symtab *st, uint64_t offset);
/* Index of the first symbol that ends behind @offset, symtab_count() if there is none; looks from
 * index @from on, fast where the answer is near. Only after symtab_settle(). */
size_t symtab_seek(const struct symtab *st, size_t from, uint64_t offset);
