/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/interpreter_slots.h"

#include <bpf/bpf.h>
#include <string.h>

/* The number of @interpreter, or the next free one. */
static uint32_t find(const struct interpreter_slots *s, const struct interpreter *interpreter)
{
	uint32_t i;

	for (i = 1; i <= s->count; i++)
		if (!memcmp(&s->all[i], interpreter, sizeof(*interpreter)))
			return i;
	return i;
}

bool interpreter_slots_fit(const struct interpreter_slots *s, const struct interpreter *interpreter)
{
	return !interpreter->is_known || find(s, interpreter) < SAMPLE_INTERPRETERS_MAX;
}

uint32_t interpreter_slots_number(struct interpreter_slots *s,
				  const struct interpreter *interpreter)
{
	uint32_t i = find(s, interpreter);

	if (!interpreter->is_known || i <= s->count)
		return interpreter->is_known ? i : 0;
	if (i == SAMPLE_INTERPRETERS_MAX ||
	    bpf_map_update_elem(s->map, &i, interpreter, BPF_ANY) < 0)
		return 0;
	s->all[i] = *interpreter;
	return s->count = i;
}
