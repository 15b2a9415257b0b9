/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pieces of code that do not overlap, sorted by address. Adding and removing cost about the same
 * in any order of addresses, because a foreign process chooses that order. The pieces are borrowed.
 *
 *	struct code_row row = { 0 };
 *	code_row_add(&row, code);
 *	code = code_row_find(&row, pc);
 *	code_row_done(&row);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct code_block;
struct jit_code;

struct code_row {
	struct code_block **blocks; /* sorted; none is empty */
	size_t count, room;
};

/* The first piece that ends after @address, or NULL. */
struct jit_code *code_row_next(const struct code_row *r, uint64_t address);
/* The piece at @address, or NULL. */
struct jit_code *code_row_find(const struct code_row *r, uint64_t address);
/* Adds @code, which must not overlap any other piece. */
void code_row_add(struct code_row *r, struct jit_code *code);
/* Removes @code, which must be in the row. */
void code_row_remove(struct code_row *r, const struct jit_code *code);
/* Frees all but the pieces. */
void code_row_done(struct code_row *r);
