/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/python_slots.h"

#include <bpf/bpf.h>
#include <string.h>

/* The number of @layout, or the next free one. */
static uint32_t find(const struct python_slots *s, const struct python_layout *layout)
{
	uint32_t i;

	for (i = 1; i <= s->count; i++)
		if (!memcmp(&s->layouts[i], layout, sizeof(*layout)))
			return i;
	return i;
}

bool python_slots_fit(const struct python_slots *s, const struct python_layout *layout)
{
	return !layout->entry || find(s, layout) < SAMPLE_PYTHONS_MAX;
}

uint32_t python_slots_number(struct python_slots *s, const struct python_layout *layout)
{
	uint32_t i = find(s, layout);

	if (!layout->entry || i <= s->count)
		return layout->entry ? i : 0;
	if (i == SAMPLE_PYTHONS_MAX || bpf_map_update_elem(s->map, &i, layout, BPF_ANY) < 0)
		return 0;
	s->layouts[i] = *layout;
	return s->count = i;
}
