/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events that are derived, among others in a list, on machines that are not here. */
#include "event/event.h"
#include "event/evderived.h"

#include "base/mem.h"
#include "test.h"

#include <errno.h>

static char *machine(const char *name)
{
	return xasprintf("%s/tests/fixtures/machines/%s", getenv("OP_SOURCE_ROOT"), name);
}

static void derived_events_become_the_feature(void)
{
	static const struct {
		const char *specs, *feature; /* NULL: none */
		int others;
	} rows[] = {
		{ "default,PAGE_FAULTS", NULL, 2 },
		{ "IBS_OP_ALL:250000:0:1:1", "ibs:op:IBS_OP_ALL:250000:0", 0 },
		{ "IBS_FETCH_ALL", "ibs:fetch:IBS_FETCH_ALL:250000:0", 0 },
		{ "IBS_OP_LOAD:100000,TIMER,IBS_OP_ALL:100000:1",
		  "ibs:op:IBS_OP_LOAD,IBS_OP_ALL:100000:1", 1 },
		{ "IBS_OP_ALL:100000:7,IBS_FETCH_ALL:50000,IBS_FETCH_LATENCY:50000,IBS_OP_ALL:"
		  "100000:7",
		  "ibs:fetch:IBS_FETCH_ALL,IBS_FETCH_LATENCY:50000:0|op:IBS_OP_ALL:100000:7", 0 },
		{ "IBS_OP_ALL:100000:1:0:1", "ibs:op:IBS_OP_ALL:100000:1:0:1", 0 },
		{ "IBS_FETCH_ALL:100000:0:1:0", "ibs:fetch:IBS_FETCH_ALL:100000:0:1:0", 0 },
		{ "OFFCPU,default", "offcpu", 1 },
	};
	static const char *const machines[] = { "amd-zen1", "amd-zen2", "amd-zen3", "amd-zen4" };
	size_t i, m;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (m = 0; m < ARRAY_SIZE(machines); m++) {
			_cleanup_free_ char *root = machine(machines[m]), *feature = NULL;
			struct event events[EVENT_MAX];
			struct error err = ERROR_INIT;

			CHECK_EQ(event_parse_all_at(root, rows[i].specs, events, &feature, &err),
				 rows[i].others);
			if (err.code)
				printf("# %s: %s\n", rows[i].specs, err.text);
			if (rows[i].feature && CHECK(feature))
				CHECK_STR(feature, rows[i].feature);
			CHECK(rows[i].feature || !feature);
		}
}

static void what_does_not_go_is_refused_with_the_reason(void)
{
	static const struct {
		const char *machine, *specs, *says;
	} rows[] = {
		{ "amd-zen4", "IBS_OP_ALL:250000,IBS_OP_LOAD:100000",
		  "IBS_OP_LOAD:100000:1:1:1 does not go with IBS_OP_ALL:250000:1:1:1: all IBS op "
		  "events are derived from the same samples" },
		{ "amd-zen4", "IBS_OP_ALL:250000:0,IBS_OP_LOAD:250000:1",
		  "count and unit mask, kernel and user must be the same" },
		{ "amd-zen4", "IBS_FETCH_ALL:250000:0:1:0,IBS_FETCH_KILLED:250000",
		  "IBS_FETCH_KILLED:250000:0:1:1 does not go with IBS_FETCH_ALL:250000:0:1:0" },
		{ "amd-zen4", "IBS_OP_ALL:49999", "is below the minimum 50000" },
		{ "amd-zen4", "IBS_OP_ALL:250000:8", "Invalid unit mask 0x8 for event IBS_OP_ALL" },
		{ "amd-zen4", "IBS_FETCH_ALL:250000:1", "it has no unit masks; use 0" },
		{ "amd-zen4", "IBS_OP_LODE", "did you mean IBS_OP_LOAD?" },
		{ "amd-zen4", "IBS_OP_ALL:250000:1:1:1:p", "cannot be sampled precisely" },
		{ "amd-zen4", "IBS_OP_ALL,OFFCPU", "one is enabled at a time" },
		{ "amd-zen4", "OFFCPU", "cannot be sampled alone" },
		{ "vm-without-pmu", "TIMER,IBS_OP_ALL:250000:0:1:1", "PMU ibs_op is missing" },
		{ "vm-without-pmu", "IBS_FETCH_ALL", "devices/ibs_fetch. It takes an AMD" },
		{ "intel-skylake", "IBS_FETCH_LATENCY", "PMU ibs_fetch is missing" },
		{ "arm-graviton2", "IBS_OP_DC_LOAD_LAT", "PMU ibs_op is missing" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *root = machine(rows[i].machine), *feature = NULL;
		struct event events[EVENT_MAX];
		struct error err = ERROR_INIT;

		CHECK_EQ(event_parse_all_at(root, rows[i].specs, events, &feature, &err), -EINVAL);
		CHECK(!feature);
		if (!CHECK(strstr(err.text, rows[i].says)))
			printf("# %s gives '%s'\n", rows[i].specs, err.text);
	}
}

static void who_counts_refuses_them(void)
{
	_cleanup_free_ char *root = machine("amd-zen4");
	struct event events[EVENT_MAX];
	struct error err = ERROR_INIT;

	CHECK_EQ(event_parse_list_at(root, "PAGE_FAULTS,IBS_OP_ALL", events, &err), -EINVAL);
	CHECK(strstr(err.text, "IBS_OP_ALL is derived from samples (ibs_op)"));
}

static void a_feature_that_is_not_there_is_named(void)
{
	_cleanup_(evderived_done) struct evderived d = { 0 };
	struct event event = { .name = "SOME", .feature = "magic" };
	struct error err = ERROR_INIT;

	CHECK_EQ(evderived_add(&d, &event, &err), -EINVAL);
	CHECK_STR(err.text, "event SOME is derived by 'magic', which is not a known feature");
	CHECK(!evderived_text(&d));
}

TESTS(T(derived_events_become_the_feature), T(what_does_not_go_is_refused_with_the_reason),
      T(who_counts_refuses_them), T(a_feature_that_is_not_there_is_named))
