/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/sname_event.h"

#include "base/mem.h"
#include "test.h"

#include <stdio.h>

/* Names in sample files, and what people write. */
static const struct {
	const char *name, *text;
} rows[] = {
	{ "TIMER", "TIMER" },
	{ "msr~tsc", "msr/tsc/" },
	{ "msr~read_msr", "msr:read_msr" },
	{ "cpu~event=0x3c+umask=1", "cpu/event=0x3c,umask=1/" },
	{ "cpu_core~MEM_LOAD", "cpu_core/MEM_LOAD/" },
	{ "uncore_imc_0~cas_count_read", "uncore_imc_0/cas_count_read/" },
	{ "unheard_of~config=1", "unheard_of/config=1/" },
	{ "power~energy-pkg", "power/energy-pkg/" },
	{ "power~cpu_frequency", "power:cpu_frequency" },
	{ "sched~sched_switch", "sched:sched_switch" },
	{ "uncore_~x", "uncore_:x" },
	{ "kprobe~vfs_read", "kprobe:vfs_read" },
	{ "uprobe~app~main", "uprobe:app:main" },
	{ "usdt~libc.so~libc~setjmp", "usdt:libc.so:libc:setjmp" },
	{ "cycles~2", "cycles~2" },
	{ "~", "~" },
	{ "", "" },
};

static void events_are_shown_as_they_are_typed(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = sname_event_text(rows[i].name);

		printf("# %s\n", rows[i].name);
		CHECK_STR(text, rows[i].text);
	}
}

static void both_forms_select_an_event(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		printf("# %s\n", rows[i].name);
		CHECK(sname_event_is(rows[i].name, rows[i].name));
		CHECK(sname_event_is(rows[i].text, rows[i].name));
	}
	CHECK(sname_event_is("msr/tsc/pp", "msr~tsc"));
	CHECK(sname_event_is("msr/tsc", "msr~tsc"));
	CHECK(!sname_event_is("msr/tsc/x", "msr~tsc"));
	CHECK(!sname_event_is("msr/ts/", "msr~tsc"));
	CHECK(!sname_event_is("TIMERS", "TIMER"));
	CHECK(!sname_event_is("TIMER/", "TIMER"));
	CHECK(!sname_event_is("TIME", "TIMER"));
	CHECK(!sname_event_is("", "TIMER"));
}

static void commas_of_a_specification_are_escaped(void)
{
	_cleanup_free_ char *word = sname_event_word("cpu~event=0x3c+umask=1+inv=1");
	_cleanup_free_ char *plain = sname_event_word("");

	CHECK_STR(word, "cpu/event=0x3c\\,umask=1\\,inv=1/");
	CHECK_STR(plain, "");
}

TESTS(T(events_are_shown_as_they_are_typed), T(both_forms_select_an_event),
      T(commas_of_a_specification_are_escaped))
