/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event specifications as --events takes them. */
#include "base/mem.h"
#include "event/event.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *specs = xstrndup((const char *)data, size);
	struct event events[EVENT_MAX], again;
	struct error err = ERROR_INIT;
	_cleanup_free_ char *feature = NULL;
	int i, n = event_parse_all(specs, events, &feature, &err);

	for (i = 0; i < n; i++) {
		_cleanup_free_ char *text = event_text(&events[i]);

		if (event_parse(text, &again, &err) < 0)
			abort();
	}
	return 0;
}
