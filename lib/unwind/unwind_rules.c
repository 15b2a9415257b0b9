/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind_rules.h"

#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

struct unwind_rules {
	struct unwind_rule *all;
	size_t count, room;
	size_t limit;  /* no rule is added from this count on, except ->full */
	uint16_t full; /* index of the rule with UNWIND_WHY_FULL; 0: not needed so far */
	uint16_t
		*slots; /* hash table, open addressing: an index, 0 if free (rule 0 is not in it) */
	size_t slot_count;
};

static uint64_t hash_of(const struct unwind_rule *rule)
{
	uint64_t words[2];

	memcpy(words, rule, sizeof(words));
	return hash_u64(words[0] * 0x9e3779b97f4a7c15ULL ^ words[1]);
}

/* The slot of @rule, or the free one where it belongs. */
static uint16_t *find_slot(const struct unwind_rules *rules, const struct unwind_rule *rule)
{
	size_t mask = rules->slot_count - 1, i = hash_of(rule) & mask;

	while (rules->slots[i] && memcmp(&rules->all[rules->slots[i]], rule, sizeof(*rule)) != 0)
		i = (i + 1) & mask;
	return &rules->slots[i];
}

static void grow_slots(struct unwind_rules *rules)
{
	size_t i;

	rules->slot_count *= 2;
	free(rules->slots);
	rules->slots = xcalloc(rules->slot_count, sizeof(*rules->slots));
	for (i = 1; i < rules->count; i++)
		*find_slot(rules, &rules->all[i]) = (uint16_t)i;
}

struct unwind_rules *unwind_rules_new(void)
{
	struct unwind_rules *rules = xcalloc(1, sizeof(*rules));

	unwind_rules_clear(rules);
	return rules;
}

void unwind_rules_clear(struct unwind_rules *rules)
{
	free(rules->slots);
	rules->slot_count = 1024;
	rules->slots = xcalloc(rules->slot_count, sizeof(*rules->slots));
	array_grow(&rules->all, 1, &rules->room);
	rules->all[0] = (struct unwind_rule){ .cfa = UNWIND_CFA_NONE, .base = UNWIND_WHY_NO_ROW };
	rules->count = 1;
	rules->full = 0;
	rules->limit = UNWIND_RULES_MAX - 1;
}

void unwind_rules_begin(struct unwind_rules *rules)
{
	rules->limit = MIN(rules->count + UNWIND_RULES_OF_FILE, (size_t)UNWIND_RULES_MAX - 1);
}

bool unwind_rules_nearly_full(const struct unwind_rules *rules)
{
	return rules->count + UNWIND_RULES_OF_FILE > UNWIND_RULES_MAX - 1;
}

void unwind_rules_free(struct unwind_rules *rules)
{
	if (!rules)
		return;
	free(rules->all);
	free(rules->slots);
	free(rules);
}

/* Adds @rule, which is not in the set; its index. */
static uint16_t append(struct unwind_rules *rules, const struct unwind_rule *rule)
{
	array_grow(&rules->all, rules->count + 1, &rules->room);
	rules->all[rules->count] = *rule;
	*find_slot(rules, rule) = (uint16_t)rules->count++;
	if (rules->count * 2 > rules->slot_count)
		grow_slots(rules);
	return (uint16_t)(rules->count - 1);
}

/* The rule for all that have no room; its own place is beyond every limit. */
static uint16_t full(struct unwind_rules *rules)
{
	static const struct unwind_rule rule = { .cfa = UNWIND_CFA_NONE, .base = UNWIND_WHY_FULL };

	if (!rules->full)
		rules->full = append(rules, &rule);
	return rules->full;
}

uint16_t unwind_rules_add(struct unwind_rules *rules, const struct unwind_rule *rule)
{
	uint16_t known;

	if (rule->cfa == UNWIND_CFA_NONE && rule->base == UNWIND_WHY_NO_ROW)
		return 0;
	if (rule->cfa == UNWIND_CFA_NONE && rule->base == UNWIND_WHY_FULL)
		return full(rules);
	known = *find_slot(rules, rule);
	if (known)
		return known;
	return rules->count < rules->limit ? append(rules, rule) : full(rules);
}

size_t unwind_rules_missing(const struct unwind_rules *rules, const struct unwind_row *rows,
			    size_t count)
{
	size_t missing = 0, i;

	for (i = 0; i < count && rules->full; i++)
		missing += rows[i].rule == rules->full;
	return missing;
}

void unwind_rules_move(struct unwind_rules *rules, const struct unwind_rules *from,
		       uint16_t *indices, struct unwind_row *rows, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		uint16_t *index = &indices[rows[i].rule];

		if (!*index)
			*index = unwind_rules_add(rules, &from->all[rows[i].rule]);
		rows[i].rule = *index;
	}
}

const struct unwind_rule *unwind_rules_all(const struct unwind_rules *rules, size_t *ret_count)
{
	*ret_count = rules->count;
	return rules->all;
}
