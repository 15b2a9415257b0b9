/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind_rules.h"

#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

struct unwind_rules {
	struct unwind_rule *all;
	size_t count, room;
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

	rules->slot_count = 1024;
	rules->slots = xcalloc(rules->slot_count, sizeof(*rules->slots));
	array_grow(&rules->all, 1, &rules->room);
	rules->all[0] = (struct unwind_rule){ .cfa = UNWIND_CFA_NONE, .base = UNWIND_WHY_NO_ROW };
	rules->count = 1;
	return rules;
}

void unwind_rules_free(struct unwind_rules *rules)
{
	if (!rules)
		return;
	free(rules->all);
	free(rules->slots);
	free(rules);
}

uint16_t unwind_rules_add(struct unwind_rules *rules, const struct unwind_rule *rule)
{
	static const struct unwind_rule full = { .base = UNWIND_WHY_FULL };
	uint16_t *slot;

	if (rule->cfa == UNWIND_CFA_NONE && rule->base == UNWIND_WHY_NO_ROW)
		return 0;
	slot = find_slot(rules, rule);
	if (*slot)
		return *slot;
	/* The last place is for the rule that says that the set is full. */
	if (rules->count >= UNWIND_RULES_MAX - 1) {
		if (rules->count == UNWIND_RULES_MAX)
			return UNWIND_RULES_MAX - 1;
		rule = &full;
		slot = find_slot(rules, rule);
		if (*slot)
			return *slot;
	}
	array_grow(&rules->all, rules->count + 1, &rules->room);
	rules->all[rules->count] = *rule;
	*slot = (uint16_t)rules->count++;
	if (rules->count * 2 > rules->slot_count) {
		grow_slots(rules);
		return (uint16_t)(rules->count - 1);
	}
	return *slot;
}

const struct unwind_rule *unwind_rules_all(const struct unwind_rules *rules, size_t *ret_count)
{
	*ret_count = rules->count;
	return rules->all;
}
