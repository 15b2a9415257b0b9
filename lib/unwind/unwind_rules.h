/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of unwind rules, each stored once: most functions of all images share a few hundred, so a
 * row of an unwind table is a PC and the index of a rule. An index keeps its meaning until the set
 * is cleared. A single file may add a limited number of rules.
 *
 *	struct unwind_rules *rules = unwind_rules_new();
 *	struct unwind_rule rule = { .cfa = UNWIND_CFA_END };
 *	uint16_t index = unwind_rules_add(rules, &rule);
 *
 *	unwind_rules_free(rules);
 */
#pragma once

#include "base/macro.h"
#include "bpf/unwind_row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* New rules that one file may add. The largest programs have some 1,300 in all. */
enum { UNWIND_RULES_OF_FILE = 2048 };

struct unwind_rules;

/* Makes a set with rule 0 only, which says that an address has no row; caller frees. */
struct unwind_rules *unwind_rules_new(void);
/* Frees it; NULL is fine. */
void unwind_rules_free(struct unwind_rules *rules);
DEFINE_CLEANUP(struct unwind_rules *, unwind_rules_free);
/* Removes all rules but rule 0. */
void unwind_rules_clear(struct unwind_rules *rules);
/* Lets another file add rules, at most UNWIND_RULES_OF_FILE. */
void unwind_rules_begin(struct unwind_rules *rules);
/* Returns whether there may be no room for all rules of another file. */
bool unwind_rules_nearly_full(const struct unwind_rules *rules);
/* Returns the index of @rule, which is added if it is new; when the set is full, or the file has
 * added too many, the index of a rule with UNWIND_WHY_FULL. */
uint16_t unwind_rules_add(struct unwind_rules *rules, const struct unwind_rule *rule);
/* Returns the number of @rows whose rule did not fit into the set. */
size_t unwind_rules_missing(const struct unwind_rules *rules, const struct unwind_row *rows,
			    size_t count);
/* Adds the rules that @rows have in @from, and changes the rows to their indices in @rules.
 * @indices, UNWIND_RULES_MAX entries, belongs to the two sets; all 0 before the first call. */
void unwind_rules_move(struct unwind_rules *rules, const struct unwind_rules *from,
		       uint16_t *indices, struct unwind_row *rows, size_t count);
/* All rules by index; borrowed until the next one is added. */
const struct unwind_rule *unwind_rules_all(const struct unwind_rules *rules, size_t *ret_count);
