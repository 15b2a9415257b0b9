/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/catalog_types.h"

#include <string.h>

uint32_t catalog_mask_number(const struct catalog_mask *mask)
{
	return mask->extra ? mask->extra | (mask->value & 0xff) << 8 : mask->value;
}

const struct catalog_mask *catalog_mask_named(const struct catalog_event *event, const char *name)
{
	const struct catalog_mask *similar = NULL;
	size_t i;

	for (i = 0; i < event->mask_count; i++) {
		const struct catalog_mask *mask = &event->masks[i];

		if (!mask->name || strcasecmp(mask->name, name) != 0)
			continue;
		if (!strcmp(mask->name, name))
			return mask;
		similar = similar ?: mask;
	}
	return similar;
}

bool catalog_mask_valid(const struct catalog_event *event, uint64_t mask)
{
	uint64_t all = 0;
	size_t i;

	if (!event->masks)
		return mask == 0;
	for (i = 0; i < event->mask_count; i++) {
		if (catalog_mask_number(&event->masks[i]) == mask)
			return true;
		all |= event->masks[i].value;
	}
	return event->bitmask && mask && !(mask & ~all);
}

const char *catalog_mask_text(const struct catalog_event *event, uint64_t mask)
{
	size_t i;

	if (!event->masks && !mask)
		return "No unit mask";
	for (i = 0; i < event->mask_count; i++)
		if (catalog_mask_number(&event->masks[i]) == mask)
			return event->masks[i].description;
	return catalog_mask_valid(event, mask) ? "multiple flags" : "unknown unit mask";
}
