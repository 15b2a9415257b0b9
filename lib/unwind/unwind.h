/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables: what .eh_frame or, where there is none, .debug_frame says of an image's code, in
 * the compact form of bpf/unwind_row.h. x86-64 and AArch64. What the form cannot say becomes a rule
 * that says why; damaged input costs the functions that are damaged.
 *
 *	struct unwind_rules *rules = unwind_rules_new();
 *	struct unwind_table *table;
 *	if (unwind_table_build(ef, rules, &table, err) == 0)
 *		rule = unwind_table_find(table, pc);
 *	unwind_table_free(table);
 *	unwind_rules_free(rules);
 *
 * The rules are the caller's, must outlive every table built with them, and only grow: what an
 * index means never changes.
 */
#pragma once

#include "base/error.h"
#include "bpf/unwind_row.h"
#include "bpf/unwind_step.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elffile;
struct unwind_rules;

/* Makes a set that holds rule 0 only; caller frees. */
struct unwind_rules *unwind_rules_new(void);
/* Frees it; NULL is fine. */
void unwind_rules_free(struct unwind_rules *rules);
DEFINE_CLEANUP(struct unwind_rules *, unwind_rules_free);
/* The index of @rule, added where new; that of a rule saying UNWIND_WHY_FULL if there is no room.
 */
uint16_t unwind_rules_add(struct unwind_rules *rules, const struct unwind_rule *rule);
/* All rules by index; borrowed until the next one is added. */
const struct unwind_rule *unwind_rules_all(const struct unwind_rules *rules, size_t *ret_count);

/* An image's table: flat arrays, in it no pointers but those here. */
struct unwind_table {
	enum unwind_machine machine;
	uint64_t base;	 /* linked address of PC 0 */
	uint32_t *pages; /* page_count + 1 of them, the last closes: it is row_count */
	size_t page_count;
	struct unwind_row *rows;
	size_t row_count;
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX];
	size_t segment_count;
	size_t fde_count;     /* functions described */
	size_t bad_fde_count; /* those whose description makes no sense: their code has no rows */
	size_t cfi_bytes;     /* of .eh_frame or .debug_frame */
};

/* Builds the table of @ef with @rules. 0 and *ret, which the caller frees; -ENODATA if the file has
 * no unwind information, -ENOTSUP for another machine, -EBADMSG if nothing makes sense. */
int unwind_table_build(struct elffile *ef, struct unwind_rules *rules, struct unwind_table **ret,
		       struct error *err);
/* Frees; NULL is fine. */
void unwind_table_free(struct unwind_table *table);
DEFINE_CLEANUP(struct unwind_table *, unwind_table_free);

/* Bytes that the arrays take. */
size_t unwind_table_bytes(const struct unwind_table *table);
/* The table's PC of the byte at @offset of the file; false if that is not executable. */
bool unwind_table_pc(const struct unwind_table *table, uint64_t offset, uint64_t *ret);
/* The index of the rule for @pc, 0 if there is none. */
uint16_t unwind_table_find(const struct unwind_table *table, uint64_t pc);
