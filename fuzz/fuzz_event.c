/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event specifications as --events takes them, and those of --ext-feature. */
#include "base/mem.h"
#include "event/evderived.h"
#include "event/event.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *specs = xstrndup((const char *)data, size);
	struct event events[EVENT_MAX], again;
	struct error err = ERROR_INIT;
	struct evderived derived;
	int i, n = event_parse_all(specs, events, &derived, &err);

	for (i = 0; i < n; i++) {
		_cleanup_free_ char *text = event_text(&events[i]);

		if (event_parse(text, &again, &err) < 0)
			abort();
	}
	(void)evderived_parse(specs, &derived, &err);
	return 0;
}
