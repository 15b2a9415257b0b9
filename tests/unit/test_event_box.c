/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon/event_box.c: events that libpfm4 is asked about, and a libpfm4 that fails. This program
 * has the library's first function itself, so that it can be made to fail. */
#include "test.h"

#include "event/event_types.h"
#include "event_box.h"

#include <errno.h>

enum fault { NONE, ABORTS, HANGS };

static enum fault fault; /* what the box inherits */

int pfm_initialize(void);
int pfm_initialize(void)
{
	if (fault == ABORTS)
		abort();
	while (fault == HANGS)
		;
	return -1; /* not supported here: there are the events of the files */
}

static const struct event_terms terms = { .count = 500, .kernel = true, .user = true };

static void events_are_looked_up(void)
{
	_cleanup_(event_box_freep) struct event_box *box = NULL;
	struct error err = ERROR_INIT;
	struct event event;
	uint64_t code = 7;

	fault = NONE;
	CHECK_EQ(event_box_new(&box, &err), 0);
	CHECK_EQ(event_box_code(box, "PAGE_FAULTS", &code, &err), 0);
	CHECK_EQ(event_box_make(box, code, &terms, &event, &err), 0);
	CHECK_STR(event.name, "PAGE_FAULTS");
	CHECK_EQ(event.count, 500);
	CHECK_EQ(event_box_make(box, 0, &terms, &event, &err), 0);
	CHECK_STR(event.name, "TIMER");
	CHECK_EQ(event_box_code(box, "NO_SUCH_EVENT", &code, &err), -EINVAL);
	CHECK(strstr(err.text, "NO_SUCH_EVENT"));
	CHECK_EQ(event_box_make(box, 0xdeadbeef, &terms, &event, &err), -EINVAL);
	CHECK_STR(err.text, "no event has the code 0xdeadbeef");
	CHECK_EQ(event_box_make(box, code, &(struct event_terms){ .count = 1 }, &event, &err),
		 -EINVAL);
}

static void library_that_fails_costs_the_request(void)
{
	static const struct {
		enum fault fault;
		int r;
		const char *why;
	} rows[] = {
		/* It is killed by a signal, or ends when a sanitizer has reported that. */
		{ ABORTS, -EPIPE, "cannot look the event up: the process that read it " },
		{ HANGS, -ETIME, "cannot look the event up: took more than 1 s to read" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(event_box_freep) struct event_box *box = NULL;
		struct error err = ERROR_INIT;
		struct event event = { .count = 9 };
		uint64_t code = 7;

		fault = rows[i].fault;
		CHECK_EQ(event_box_new(&box, &err), 0);
		fault = NONE;
		CHECK_EQ(event_box_code(box, "PAGE_FAULTS", &code, &err), rows[i].r);
		CHECK(!strncmp(err.text, rows[i].why, strlen(rows[i].why)));
		CHECK_EQ(code, 7);
		/* The next one gets a process of its own. */
		CHECK_EQ(event_box_make(box, 0, &terms, &event, &err), rows[i].r);
		CHECK_EQ(event.count, 9);
	}
}

/* So that one that is stored does not end the daemon at each start. */
static void events_are_tried_before_the_daemon_uses_them(void)
{
	struct error err = ERROR_INIT;

	fault = NONE;
	CHECK_EQ(event_box_try("PAGE_FAULTS:500", &err), 0);
	CHECK_EQ(event_box_try("NO_SUCH_EVENT:500", &err), 0);
	fault = ABORTS;
	CHECK_EQ(event_box_try("PAGE_FAULTS:500", &err), -EINVAL);
	CHECK(strstr(err.text, "'PAGE_FAULTS:500': libpfm4 crashes"));
	fault = HANGS;
	CHECK_EQ(event_box_try("PAGE_FAULTS:500", &err), -EINVAL);
	CHECK(strstr(err.text, "libpfm4 does not return"));
	fault = NONE;
}

static void the_environment_is_not_obeyed(void)
{
	static char without_value[] = "LIBPFM_X";
	static char *odd[] = { without_value, NULL };

	CHECK_EQ(setenv("LIBPFM_FORCE_PMU", "skx", 1), 0);
	CHECK_EQ(setenv("LIBPFM_DEBUG", "1", 1), 0);
	CHECK_EQ(setenv("LIBPFMX", "kept", 1), 0);
	event_box_clean_environment();
	CHECK(!getenv("LIBPFM_FORCE_PMU"));
	CHECK(!getenv("LIBPFM_DEBUG"));
	CHECK_STR(getenv("LIBPFMX"), "kept");
	environ = odd;
	event_box_clean_environment();
	CHECK(environ[0] == without_value);
}

TESTS(T(events_are_looked_up), T(library_that_fails_costs_the_request),
      T(events_are_tried_before_the_daemon_uses_them), T(the_environment_is_not_obeyed))
