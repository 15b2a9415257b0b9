/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event description files: "unit_masks", a line "%%", "events". The type "up" exists everywhere, so
 * includes can be circular; the resulting names and masks must be consistent. */
#include "fuzz.h"

#include "base/mem.h"
#include "event/internal/evfile.h"
#include "event/event.h"

#include <errno.h>
#include <string.h>

struct input {
	char *unit_masks;
	const char *events;
};

static int source(void *data, const char *key, const char *name, size_t from,
		  struct evfile_text *ret, struct error *err)
{
	const struct input *in = data;
	const char *text = strcmp(name, "events") ? in->unit_masks : in->events;

	(void)err;
	if (strcmp(key, "up") != 0 && (strcmp(key, "cpu") != 0 || from > 2))
		return -ENOENT;
	*ret = (struct evfile_text){ xstrdup(text), xstrdup(name), from };
	return 0;
}

static void check(const struct catalog_event *e)
{
	size_t i;

	if (!*e->name || strlen(e->name) >= EVENT_NAME_MAX || strpbrk(e->name, "./,: \t"))
		abort();
	if (!e->description || e->count < e->minimum || (e->masks == NULL) != (e->mask_count == 0))
		abort();
	if (e->default_mask && !e->bitmask && !catalog_mask_valid(e, e->default_mask))
		abort();
	for (i = 0; i < e->mask_count; i++)
		if (!catalog_mask_valid(e, catalog_mask_number(&e->masks[i])) ||
		    !*catalog_mask_text(e, 0xffffffff))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(evfile_done) struct evfile f = { .unavailable = 5 };
	_cleanup_free_ char *text = xstrndup((const char *)data, size);
	struct input in = { text, text };
	struct error err = ERROR_INIT;
	char *border = strstr(text, "%%\n");
	size_t i;

	if (border) {
		*border = '\0';
		in.events = border + 3;
	} else {
		in.unit_masks = text + strlen(text);
	}
	if (evfile_read(&f, "cpu", source, &in, &err) < 0) {
		if (!*err.text)
			abort();
		return 0;
	}
	for (i = 0; i < f.count; i++)
		check(&f.events[i]);
	return 0;
}
