/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of unwind rules, each stored once: most functions of all images share a few hundred, so a
 * row of an unwind table is a PC and the index of a rule. The set only grows; an index keeps its
 * meaning.
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

#include <stddef.h>
#include <stdint.h>

struct unwind_rules;

/* Makes a set with rule 0 only, which says that an address has no row; caller frees. */
struct unwind_rules *unwind_rules_new(void);
/* Frees it; NULL is fine. */
void unwind_rules_free(struct unwind_rules *rules);
DEFINE_CLEANUP(struct unwind_rules *, unwind_rules_free);
/* Returns the index of @rule, which is added if it is new; when the set is full, the index of a
 * rule with UNWIND_WHY_FULL. */
uint16_t unwind_rules_add(struct unwind_rules *rules, const struct unwind_rule *rule);
/* All rules by index; borrowed until the next one is added. */
const struct unwind_rule *unwind_rules_all(const struct unwind_rules *rules, size_t *ret_count);
