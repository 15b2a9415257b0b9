/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/event.h"

#include "base/strbuf.h"
#include "event/catalog.h"
#include "event/cpu_type.h"
#include "test.h"

#include <errno.h>
#include <linux/perf_event.h>

static bool same(const struct event *a, const struct event *b)
{
	return !strcmp(a->name, b->name) && a->count == b->count && a->rate_hz == b->rate_hz &&
	       a->code == b->code && a->unit_mask == b->unit_mask && a->kernel == b->kernel &&
	       a->user == b->user && a->is_timer == b->is_timer && a->perf_type == b->perf_type &&
	       a->perf_config == b->perf_config;
}

static void specs_are_read(void)
{
	static const struct {
		const char *spec, *text; /* as event_text() writes it */
	} rows[] = {
		{ "CPU_CLK_UNHALTED", "CPU_CLK_UNHALTED:100000:0:1:1" },
		{ "CPU_CLK_UNHALTED:50000", "CPU_CLK_UNHALTED:50000:0:1:1" },
		{ "CPU_CLK_UNHALTED:200000:0:0:1", "CPU_CLK_UNHALTED:200000:0:0:1" },
		{ "CPU_CLK_UNHALTED:200000:0x0:1:0", "CPU_CLK_UNHALTED:200000:0:1:0" },
		{ "CPU_CLK_UNHALTED:200000:0:1:1:1", "CPU_CLK_UNHALTED:200000:0:1:1" },
		{ "CPU_CLK_UNHALTED:200000:0:1:0:0", "CPU_CLK_UNHALTED:200000:0:1:0:0" },
		{ "CPU_CLK_UNHALTED:200000:0:0:1:0", "CPU_CLK_UNHALTED:200000:0:0:1" },
		{ "PAGE_FAULTS:1", "PAGE_FAULTS:1:0:1:1" },
		{ "PAGE_FAULTS::0", "PAGE_FAULTS:100:0:1:1" },
		{ "TIMER", "TIMER:0:0:1:1" },
		{ "TIMER:4000", "TIMER:4000:0:1:1" },
		{ "TIMER:4000:0:0:1", "TIMER:4000:0:0:1" },
		{ "r1c2", "r1c2:100000:0:1:1" },
		{ "rffffffffffffffff:500:0:0", "rffffffffffffffff:500:0:0:1" },
		{ "CONTEXT_SWITCHES:2147483647", "CONTEXT_SWITCHES:2147483647:0:1:1" },
		/* as in perf(1) */
		{ "cycles", "CPU_CLK_UNHALTED:100000:0:1:1" },
		{ "faults:1", "PAGE_FAULTS:1:0:1:1" },
		{ "page-faults:u", "PAGE_FAULTS:100:0:0:1" },
		{ "cs:5:k", "CONTEXT_SWITCHES:5:0:1:0" },
		{ "cpu-clock:4000:uk", "TIMER:4000:0:1:1" },
		{ "cycles:upp", "CPU_CLK_UNHALTED:100000:0:0:1:pp" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = ERROR_INIT;
		struct event event, again;

		if (!CHECK(event_parse(rows[i].spec, &event, &err) == 0)) {
			printf("# %s: %s\n", rows[i].spec, err.text);
			continue;
		}
		_cleanup_free_ char *text = event_text(&event);
		CHECK_STR(text, rows[i].text);
		CHECK_EQ(event_parse(text, &again, &err), 0);
		CHECK(same(&event, &again));
	}
}

static void bad_specs_say_what_is_wrong(void)
{
	static const struct {
		const char *spec, *says;
	} rows[] = {
		{ "", "no name" },
		{ "CPU_CLK_UNHALTD",
		  "Invalid event CPU_CLK_UNHALTD; did you mean CPU_CLK_UNHALTED?" },
		{ "page-fault:1", "did you mean PAGE_FAULTS?" },
		{ "PAGE_FAULTS:1:p", "it cannot be sampled precisely" },
		{ "XYZZY", "Invalid event XYZZY" },
		{ ":100000", "Invalid event " },
		{ "CPU_CLK_UNHALTED:1",
		  "Count 1 for event CPU_CLK_UNHALTED is below the minimum 50000" },
		{ "CPU_CLK_UNHALTED:abc", "count 'abc' is not a number" },
		{ "CPU_CLK_UNHALTED:-1", "count '-1' is not a number" },
		{ "CPU_CLK_UNHALTED:2147483648", "is not a number from 0 to 2147483647" },
		{ "CPU_CLK_UNHALTED:100000:7", "Invalid unit mask 0x7 for event CPU_CLK_UNHALTED" },
		{ "CPU_CLK_UNHALTED:100000:0:2", "kernel '2' is not a number" },
		{ "CPU_CLK_UNHALTED:100000:0:0:0", "excludes both the kernel and user space" },
		{ "CPU_CLK_UNHALTED:100000:0:1:1:2", "hypervisor '2' is not a number" },
		{ "CPU_CLK_UNHALTED:100000:0:1:1:1:1",
		  "'1' is not made of u, k and up to three p" },
		{ "CPU_CLK_UNHALTED:100000:0:1:1:1:p:1", "too many colons" },
		{ "TIMER:1000000", "is not a number from 0 to 100000" },
		{ "r1c2:1", "Count 1 for event r1c2 is below the minimum 500" },
		{ "r1c2:500:1", "Invalid unit mask 0x1 for event r1c2; it has no unit masks" },
		{ "r1g", "Invalid event r1g" },
		{ "r", "Invalid event r" },
		{ "r10000000000000000", "Invalid event r1" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event untouched = { .count = 42 };
		struct error err = ERROR_INIT;

		CHECK_EQ(event_parse(rows[i].spec, &untouched, &err), -EINVAL);
		CHECK_EQ(untouched.count, 42);
		if (!strstr(err.text, rows[i].says)) {
			printf("# '%s' gives '%s'\n", rows[i].spec, err.text);
			CHECK(!"the message names the reason");
		}
	}
}

static void lists_leave_out_repetitions(void)
{
	struct event events[EVENT_MAX];
	struct error err = ERROR_INIT;

	CHECK_EQ(event_parse_list("PAGE_FAULTS:1,TIMER:100,PAGE_FAULTS:1:0:1:1", events, &err), 2);
	CHECK_STR(events[0].name, "PAGE_FAULTS");
	CHECK_STR(events[1].name, "TIMER");
	CHECK_EQ(event_parse_list("", events, &err), -EINVAL);
	CHECK_EQ(event_parse_list("TIMER,,TIMER", events, &err), -EINVAL);
}

static void events_of_one_sample_file_are_refused(void)
{
	struct event events[EVENT_MAX];
	struct error err = ERROR_INIT;

	CHECK_EQ(event_parse_list("PAGE_FAULTS:1:0:0:1,PAGE_FAULTS:1:0:1:0", events, &err),
		 -EINVAL);
	CHECK_EQ(event_parse_list("TIMER:100,TIMER:200", events, &err), -EINVAL);
	CHECK_EQ(event_parse_list("PAGE_FAULTS:1,PAGE_FAULTS:2", events, &err), 2);
}

static void too_many_events_are_refused(void)
{
	_cleanup_(strbuf_done) struct strbuf list = STRBUF_INIT;
	struct event events[EVENT_MAX];
	struct error err = ERROR_INIT;
	int i;

	for (i = 0; i < EVENT_MAX; i++)
		strbuf_addf(&list, "%sPAGE_FAULTS:%d", i ? "," : "", i + 1);
	CHECK_EQ(event_parse_list(strbuf_text(&list), events, &err), EVENT_MAX);
	strbuf_adds(&list, ",PAGE_FAULTS:99");
	CHECK_EQ(event_parse_list(strbuf_text(&list), events, &err), -EINVAL);
}

static void descriptions_are_the_originals(void)
{
	static const struct {
		const char *name;
		uint64_t count, mask;
		const char *text;
	} rows[] = {
		{ "CPU_CLK_UNHALTED", 100000, 0,
		  "Counted CPU_CLK_UNHALTED events (CPU Clocks not Halted) with a unit mask of "
		  "0x00 "
		  "(No unit mask) count 100000" },
		{ "DATA_CACHE_MISSES", 250000, 1,
		  "Counted DATA_CACHE_MISSES events (Data Cache Misses) with a unit mask of 0x01 "
		  "(First data cache miss or streaming store to a 64B cache line) count 250000" },
		{ "DATA_CACHE_REFILLS_FROM_L2_OR_NORTHBRIDGE", 300000, 11,
		  "Counted DATA_CACHE_REFILLS_FROM_L2_OR_NORTHBRIDGE events (Data Cache Refills "
		  "from "
		  "L2 or System) with a unit mask of 0x0b (multiple flags) count 300000" },
		{ "RETIRED_INSTRUCTIONS", 500000, 0,
		  "Counted RETIRED_INSTRUCTIONS events (Retired Instructions) with a unit mask of "
		  "0x00 (No unit mask) count 500000" },
		{ "RETIRED_INSTRUCTIONS", 500000, 9,
		  "Counted RETIRED_INSTRUCTIONS events (Retired Instructions) with a unit mask of "
		  "0x09 (unknown unit mask) count 500000" },
		{ "TIMER", 0, 0, "Profiling through timer interrupt" },
		{ "GLOBAL_POWER_EVENTS", 7, 1,
		  "Counted GLOBAL_POWER_EVENTS events with a unit mask of 0x01 count 7" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = event_describe(cpu_type_by_id(69), rows[i].name,
							   rows[i].count, rows[i].mask);

		CHECK_STR(text, rows[i].text);
	}
}

static void masks_of_a_bitmask_add_up(void)
{
	const struct catalog_event *event = catalog_event_find(
		catalog_of(cpu_type_by_id(69)), "DATA_CACHE_REFILLS_FROM_L2_OR_NORTHBRIDGE");

	CHECK(catalog_mask_valid(event, 0x1));
	CHECK(catalog_mask_valid(event, 0xb));
	CHECK(!catalog_mask_valid(event, 0x4));
	CHECK(!catalog_mask_valid(event, 0));
	CHECK(!catalog_mask_valid(event, 0x100000001));
}

static void names_are_unique_and_fit(void)
{
	size_t i;

	for (i = 0; i < catalog_count(); i++) {
		const struct catalog_event *event = catalog_event_at(catalog_here(), i);

		CHECK(catalog_find(event->name) == event);
		CHECK(strlen(event->name) < EVENT_NAME_MAX);
		CHECK(event->count >= event->minimum);
		CHECK(catalog_mask_valid(event, event->default_mask));
	}
}

static void count_name(const char *name, const char *description, void *data)
{
	size_t *count = data;

	*count += *name && *description;
}

static void every_event_is_shown(void)
{
	size_t count = 0;

	event_each(count_name, &count);
	CHECK_EQ(count, catalog_count());
}

static void default_event_follows_the_cpu(void)
{
	static const struct {
		uint32_t type;
		const char *name;
		uint32_t code;
	} rows[] = {
		{ 69, "CPU_CLK_UNHALTED", 0x76 }, /* x86-64/generic */
		{ 67, "CPU_CLK_UNHALTED", 0x3c }, /* i386/haswell */
		{ 78, "CPU_CYCLES", 0x11 },	  /* arm/armv8-ca57 */
		{ 85, "CYCLES", 0x1e },		  /* ppc64/power9 */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct cpu_type *type = cpu_type_by_id(rows[i].type);

		CHECK_STR(catalog_default(type)->name, rows[i].name);
		CHECK_EQ(catalog_default(type)->code, rows[i].code);
	}
}

static void default_is_hardware_cycles(void)
{
	struct error err = ERROR_INIT;
	struct event event;

	CHECK_EQ(event_parse("default", &event, &err), 0);
	CHECK_EQ(event.perf_type, PERF_TYPE_HARDWARE);
	CHECK_EQ(event.perf_config, PERF_COUNT_HW_CPU_CYCLES);
}

static void raw_events_are_taken_as_they_are(void)
{
	struct error err = ERROR_INIT;
	struct event event;

	CHECK_EQ(event_parse("r1000001C2:500", &event, &err), 0);
	CHECK_EQ(event.perf_type, PERF_TYPE_RAW);
	CHECK_EQ(event.perf_config, 0x1000001c2);
	CHECK_EQ(event.code, 0x1c2);
	CHECK(!event.is_timer && !event.precise && event.unit_mask == 0);
}

static void timer_has_a_rate_and_no_count(void)
{
	struct event event;

	event_timer(&event, 250, false, true);
	CHECK_STR(event.name, "TIMER");
	CHECK_EQ(event.count, 0);
	CHECK_EQ(event.rate_hz, 250);
	CHECK(event.is_timer && event.user && !event.kernel);
	CHECK_EQ(event.perf_type, PERF_TYPE_SOFTWARE);
}

static void a_clock_among_counters_is_not_alone(void)
{
	static const struct {
		const char *specs;
		bool alone;
	} rows[] = {
		{ "TIMER:100", true },
		{ "PAGE_FAULTS", false },
		{ "TIMER:100,PAGE_FAULTS", false },
		{ "PAGE_FAULTS,TIMER:100", false },
	};
	struct event events[EVENT_MAX] = { { .count = 0 } };
	size_t i;

	CHECK(!event_clock_only(events, 0));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int count = event_parse_list(rows[i].specs, events, NULL);

		if (CHECK(count > 0))
			CHECK_EQ(event_clock_only(events, (size_t)count), rows[i].alone);
	}
}

TESTS(T(specs_are_read), T(a_clock_among_counters_is_not_alone), T(bad_specs_say_what_is_wrong),
      T(lists_leave_out_repetitions), T(events_of_one_sample_file_are_refused),
      T(too_many_events_are_refused), T(descriptions_are_the_originals),
      T(masks_of_a_bitmask_add_up), T(names_are_unique_and_fit), T(every_event_is_shown),
      T(default_event_follows_the_cpu), T(default_is_hardware_cycles),
      T(raw_events_are_taken_as_they_are), T(timer_has_a_rate_and_no_count))
