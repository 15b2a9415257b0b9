/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/internal/event_mask.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

int event_mask_unknown(const struct catalog_event *info, const char *text, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf valid = STRBUF_INIT;
	const struct catalog_mask *mask;
	size_t i;

	for (i = 0; i < info->mask_count; i++) {
		mask = &info->masks[i];
		strbuf_adds(&valid, i ? ", " : "available: ");
		if (mask->name)
			strbuf_adds(&valid, mask->name);
		else
			strbuf_addf(&valid, "%#x", mask->value);
	}
	return error_set(err, -EINVAL, "Invalid unit mask %s for event %s; %s", text, info->name,
			 info->masks ? strbuf_text(&valid) : "it has no unit masks; use 0");
}

static int bad_mask(const struct catalog_event *info, uint64_t number, struct error *err)
{
	_cleanup_free_ char *text = xasprintf("%#" PRIx64, number);

	return event_mask_unknown(info, text, err);
}

/* Replaces a mask's value by the number of the mask that has it. Returns -EINVAL if several named
 * masks have that value. */
static int number_of_value(const struct catalog_event *info, uint64_t *value, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	const struct catalog_mask *mask, *found = NULL;
	size_t count = 0, i;

	for (i = 0; i < info->mask_count; i++) {
		mask = &info->masks[i];
		if (mask->value != *value || !mask->name || (found && info->pfm))
			continue; /* libpfm4 can have several names for one mask */
		strbuf_addf(&names, "%s%s", count++ ? ", " : "", mask->name);
		found = mask;
	}
	if (count > 1)
		return error_set(err, -EINVAL,
				 "Unit mask %#" PRIx64 " of event %s is ambiguous; use one of %s",
				 *value, info->name, strbuf_text(&names));
	if (found)
		*value = catalog_mask_number(found);
	return 0;
}

/* Gets the combined number of the masks named "A" or "A+B". Returns false if a name is unknown. */
static bool masks_named(const struct catalog_event *info, const char *names, uint64_t *ret)
{
	_cleanup_free_ char *copy = xstrdup(names);
	const struct catalog_mask *mask;
	char *next = copy, *name;

	*ret = 0;
	while ((name = strsep(&next, "+"))) {
		mask = catalog_mask_named(info, name);
		if (!mask)
			return false;
		*ret |= catalog_mask_number(mask);
	}
	return true;
}

/* Keeps the names if they cannot be restored from the number. */
static int keep_names(const struct catalog_event *info, const char *names, struct event *event,
		      struct error *err)
{
	size_t i;

	for (i = 0; i < info->mask_count; i++)
		if (catalog_mask_number(&info->masks[i]) == event->unit_mask)
			break;
	if (i < info->mask_count ? !strcmp(info->masks[i].name, names) : info->bitmask)
		return 0;
	if (strlen(names) >= sizeof(event->masks))
		return error_set(err, -EINVAL, "event %s: more than %zu letters of masks",
				 info->name, sizeof(event->masks) - 1);
	strcpy(event->masks, names);
	return 0;
}

static int set_number(const struct catalog_event *info, uint64_t number, struct event *event,
		      struct error *err)
{
	if (!catalog_mask_valid(info, number))
		return bad_mask(info, number, err);
	event->unit_mask = (uint32_t)number;
	return 0;
}

/* The bits of a unit mask in the event select register's low half. */
enum { UNIT_MASK = 0xff };

/* Returns whether @mask, which is not one of the event's, means the mask that the event has anyway:
 * 0 is no mask; the value can be part of the event's code (libpfm4: 0x0107), or be the mask's
 * without its further bits. */
static bool is_implied(const struct catalog_event *info, uint64_t mask, const struct event *event)
{
	if (info->mask_count)
		return !mask || (event->unit_mask & UNIT_MASK) == mask;
	return info->pfm && mask == (info->code >> 8 & UNIT_MASK);
}

int event_mask_set(const struct catalog_event *info, uint64_t mask, struct event *event,
		   struct error *err)
{
	int r = number_of_value(info, &mask, err);

	if (r < 0 || catalog_mask_valid(info, mask) || !is_implied(info, mask, event))
		return r < 0 ? r : set_number(info, mask, event, err);
	return 0;
}

int event_mask_named(const struct catalog_event *info, const char *names, struct event *event,
		     struct error *err)
{
	uint64_t mask;
	int r;

	if (!masks_named(info, names, &mask))
		return 0;
	event->unit_mask = (uint32_t)mask;
	r = info->pfm ? keep_names(info, names, event, err) : set_number(info, mask, event, err);
	return r < 0 ? r : 1;
}
