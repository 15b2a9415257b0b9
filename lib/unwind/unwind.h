/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables: how to get from a frame to its caller, for each address of an image's code, as
 * .eh_frame or, where that says nothing, .debug_frame describes it. x86-64, AArch64 and i386. The
 * tables have the compact form of bpf/unwind_row.h; what that cannot express becomes a rule that
 * names the reason. Damaged input loses the functions that are damaged, not the others.
 *
 *	struct unwind_rules *rules = unwind_rules_new();
 *	struct unwind_table *table;
 *
 *	if (unwind_table_build(ef, rules, &table, err) == 0) {
 *		rule = unwind_table_find(table, pc);
 *		unwind_table_free(table);
 *	}
 *	unwind_rules_free(rules);
 *
 * Tables refer to rules by index: the caller owns the rules, which must outlive every table built
 * with them.
 */
#pragma once

#include "base/error.h"
#include "bpf/interpreter.h"
#include "bpf/unwind_step.h"
#include "unwind/unwind_rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elffile;

/* The table of one image. The arrays contain no pointers. */
struct unwind_table {
	enum unwind_machine machine;
	uint64_t base;	 /* linked address of PC 0 */
	uint32_t *pages; /* first row of each page, and row_count: page_count + 1 in all */
	size_t page_count;
	struct unwind_row *rows;
	size_t row_count;
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX];
	size_t segment_count;
	size_t fde_count;		/* functions described */
	size_t bad_fde_count;		/* damaged descriptions: their code has no rows */
	size_t cfi_bytes;		/* of .eh_frame or .debug_frame */
	struct interpreter interpreter; /* in the image; kind 0: there is none */
};

/* Builds the table of @ef with @rules; caller frees. 0, -ENODATA if the file has no unwind
 * information, -ENOTSUP for another machine, -EBADMSG if all of it is damaged. */
int unwind_table_build(struct elffile *ef, struct unwind_rules *rules, struct unwind_table **ret,
		       struct error *err);
/* Frees; NULL is fine. */
void unwind_table_free(struct unwind_table *table);
DEFINE_CLEANUP(struct unwind_table *, unwind_table_free);

/* Memory taken by the arrays. */
size_t unwind_table_bytes(const struct unwind_table *table);
/* The PC (relative to ->base) of the code at @offset in the file; false if there is no code. */
bool unwind_table_pc(const struct unwind_table *table, uint64_t offset, uint64_t *ret);
/* The index of the rule for @pc, 0 if there is none. */
uint16_t unwind_table_find(const struct unwind_table *table, uint64_t pc);
