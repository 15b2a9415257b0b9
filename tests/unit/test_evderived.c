/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events that are derived, among others in a list, on machines that are not here. */
#include "event/event.h"
#include "event/evderived.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "test.h"

#include <errno.h>
#include <inttypes.h>

static char *machine(const char *name)
{
	return xasprintf("%s/tests/fixtures/machines/%s", getenv("OP_SOURCE_ROOT"), name);
}

/* Lists the events that are derived, each as a specification, then "only blocked" or the like. */
static char *list_of(const struct evderived *d)
{
	struct strbuf text = STRBUF_INIT;
	struct event event;
	size_t i;

	for (i = 0; evderived_event(d, i, &event); i++)
		strbuf_addf(&text, "%s%s:%" PRIu64 ":%u:%d:%d", i ? "," : "", event.name,
			    event.count, event.unit_mask, event.kernel, event.user);
	if (d->offcpu.blocked)
		strbuf_adds(&text, " only blocked");
	if (d->offcpu.wakers)
		strbuf_adds(&text, " with wakers");
	if (d->offcpu.min_us)
		strbuf_addf(&text, " from %" PRIu64, d->offcpu.min_us);
	return strbuf_take(&text);
}

static void derived_events_are_collected(void)
{
	static const struct {
		const char *specs, *derived;
		int others;
	} rows[] = {
		{ "default,PAGE_FAULTS", "", 2 },
		{ "IBS_OP_ALL:250000:0:1:1", "IBS_OP_ALL:250000:0:1:1", 0 },
		{ "IBS_FETCH_ALL", "IBS_FETCH_ALL:250000:0:1:1", 0 },
		{ "IBS_OP_LOAD:100000,TIMER,IBS_OP_ALL:100000:1",
		  "IBS_OP_LOAD:100000:1:1:1,IBS_OP_ALL:100000:1:1:1", 1 },
		{ "IBS_OP_ALL:100000:7,IBS_FETCH_ALL:50000,IBS_FETCH_LATENCY:50000,IBS_OP_ALL:"
		  "100000:7",
		  "IBS_OP_ALL:100000:7:1:1,IBS_FETCH_ALL:50000:0:1:1,"
		  "IBS_FETCH_LATENCY:50000:0:1:1",
		  0 },
		{ "IBS_OP_ALL:100000:1:0:1", "IBS_OP_ALL:100000:1:0:1", 0 },
		{ "IBS_FETCH_ALL:100000:0:1:0", "IBS_FETCH_ALL:100000:0:1:0", 0 },
		{ "OFFCPU,default", "OFFCPU:1:0:1:1", 1 },
		{ "OFFCPU_FAULT,default,OFFCPU,OFFCPU_LOCK",
		  "OFFCPU:1:0:1:1,OFFCPU_LOCK:1:0:1:1,OFFCPU_FAULT:1:0:1:1", 1 },
	};
	static const char *const machines[] = { "amd-zen1", "amd-zen2", "amd-zen3", "amd-zen4" };
	size_t i, m;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (m = 0; m < ARRAY_SIZE(machines); m++) {
			_cleanup_free_ char *root = machine(machines[m]), *list = NULL;
			struct event events[EVENT_MAX];
			struct evderived derived = { 0 };
			struct error err = ERROR_INIT;

			CHECK_EQ(event_parse_all_at(root, rows[i].specs, events, &derived, &err),
				 rows[i].others);
			if (err.code)
				printf("# %s: %s\n", rows[i].specs, err.text);
			list = list_of(&derived);
			CHECK_STR(list, rows[i].derived);
		}
}

static void what_does_not_go_is_refused_with_the_reason(void)
{
	static const struct {
		const char *machine, *specs, *says;
	} rows[] = {
		{ "amd-zen4", "IBS_OP_ALL:250000,IBS_OP_LOAD:100000",
		  "IBS_OP_LOAD:100000:1:1:1 cannot be combined with IBS_OP_ALL:250000:1:1:1: all "
		  "IBS op "
		  "events are derived from the same samples" },
		{ "amd-zen4", "IBS_OP_ALL:250000:0,IBS_OP_LOAD:250000:1",
		  "count and unit mask, kernel and user must be the same" },
		{ "amd-zen4", "IBS_FETCH_ALL:250000:0:1:0,IBS_FETCH_KILLED:250000",
		  "IBS_FETCH_KILLED:250000:0:1:1 cannot be combined with "
		  "IBS_FETCH_ALL:250000:0:1:0" },
		{ "amd-zen4", "IBS_OP_ALL:49999", "is below the minimum 50000" },
		{ "amd-zen4", "IBS_OP_ALL:250000:8", "Invalid unit mask 0x8 for event IBS_OP_ALL" },
		{ "amd-zen4", "IBS_FETCH_ALL:250000:1", "it has no unit masks; use 0" },
		{ "amd-zen4", "IBS_OP_LODE", "did you mean IBS_OP_LOAD?" },
		{ "amd-zen4", "IBS_OP_ALL:250000:1:1:1:p", "cannot be sampled precisely" },
		{ "amd-zen4", "IBS_OP_ALL,OFFCPU", "only one extended" },
		{ "amd-zen4", "OFFCPU", "cannot be sampled alone" },
		{ "vm-without-pmu", "TIMER,IBS_OP_ALL:250000:0:1:1", "PMU ibs_op is missing" },
		{ "vm-without-pmu", "IBS_FETCH_ALL", "devices/ibs_fetch; IBS needs an AMD" },
		{ "intel-skylake", "IBS_FETCH_LATENCY", "PMU ibs_fetch is missing" },
		{ "arm-graviton2", "IBS_OP_DC_LOAD_LAT", "PMU ibs_op is missing" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *root = machine(rows[i].machine);
		struct event events[EVENT_MAX];
		struct evderived derived = { 0 };
		struct error err = ERROR_INIT;

		CHECK_EQ(event_parse_all_at(root, rows[i].specs, events, &derived, &err), -EINVAL);
		CHECK(!evderived_name(&derived));
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
	struct evderived d = { 0 };
	struct event event = { .name = "SOME", .feature = "magic" };
	struct error err = ERROR_INIT;

	CHECK_EQ(evderived_add(&d, &event, &err), -EINVAL);
	CHECK_STR(err.text, "event SOME is derived by 'magic', which is not a known feature");
	CHECK(!evderived_name(&d));
}

static void the_argument_of_ext_feature_is_read(void)
{
	static const struct {
		const char *text, *derived;
	} rows[] = {
		{ "ibs:fetch:IBS_FETCH_ALL,IBS_FETCH_KILLED:250000:0",
		  "IBS_FETCH_ALL:250000:0:1:1,IBS_FETCH_KILLED:250000:0:1:1" },
		{ "ibs:fetch:IBS_FETCH_ALL:250000:0|op:IBS_OP_ALL:100000:1",
		  "IBS_FETCH_ALL:250000:0:1:1,IBS_OP_ALL:100000:1:1:1" },
		{ "ibs:op:IBS_OP_ALL:250000:1|op:IBS_OP_LOAD:250000:1",
		  "IBS_OP_ALL:250000:1:1:1,IBS_OP_LOAD:250000:1:1:1" },
		{ "ibs:op:IBS_OP_ALL,IBS_OP_ALL:250000:1:0:1|", "IBS_OP_ALL:250000:1:0:1" },
		{ "offcpu", "OFFCPU:1:0:1:1" },
		{ "offcpu:blocked", "OFFCPU:1:0:1:1 only blocked" },
		{ "offcpu:wakers", "OFFCPU:1:0:1:1 with wakers" },
		{ "offcpu:idle,min=5ms", "OFFCPU:1:0:1:1 from 5000" },
		{ "offcpu:io,idle,min=1s", "OFFCPU_IO:1:0:1:1,OFFCPU_IDLE:1:0:1:1 from 1000000" },
		{ "offcpu:reasons", "OFFCPU_LOCK:1:0:1:1,OFFCPU_IO:1:0:1:1,OFFCPU_SLEEP:1:0:1:1,"
				    "OFFCPU_QUEUE:1:0:1:1,OFFCPU_FAULT:1:0:1:1" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *list = NULL;
		struct evderived d = { 0 };

		CHECK_EQ(evderived_parse(rows[i].text, &d, NULL), 0);
		list = list_of(&d);
		CHECK_STR(list, rows[i].derived);
	}
}

static void wrong_arguments_are_refused_with_the_reason(void)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "ibs:op:IBS_OP_ALL:250000:1|op:IBS_OP_LOAD:250001:1",
		  "IBS_OP_LOAD:250001:1:1:1 cannot be combined with IBS_OP_ALL:250000:1:1:1" },
		{ "ibs:fetch:IBS_FETCH_ALL:250000:0|fetch:IBS_FETCH_KILLED:250000:1",
		  "IBS_FETCH_KILLED:250000:1:1:1 cannot be combined with "
		  "IBS_FETCH_ALL:250000:0:1:1" },
		{ "ibs:op:IBS_OP_ALL:250000:1|op:IBS_OP_LOAD:250000:1:0:1",
		  "IBS_OP_LOAD:250000:1:0:1 cannot be combined with IBS_OP_ALL:250000:1:1:1" },
		{ "ibs:op:IBS_OP_ALL:250000:1:2", "IBS op kernel '2' is not between 0 and 1" },
		{ "ibs:fetch:IBS_FETCH_ALL:1048576:0",
		  "count '1048576' is not between 1 and 1048575" },
		{ "ibs:op:IBS_OP_ALL", "is not fetch:EVENT,...:COUNT:MASK or op:" },
		{ "ibs:", "ibs: no event given" },
		{ "ibs:fetch:IBS_OP_ALL:250000:0",
		  "no IBS fetch event 'IBS_OP_ALL'; did you mean IBS_FETCH_ALL?" },
		{ "ibs:fetch:IBS_FETCH_AL:250000:0", "did you mean IBS_FETCH_ALL?" },
		{ "offcpu:nonsense", "offcpu: 'nonsense' is not one of reasons, lock, io," },
		{ "offcpu:min=5", "offcpu: '5' is not a length of time, such as 500us, 5ms, 1s" },
		{ "offcpu:min=ms", "offcpu: 'ms' is not a length of time" },
		{ "magic:1", "no extended feature 'magic'; available: ibs, offcpu" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = ERROR_INIT;
		struct evderived d = { 0 };

		CHECK_EQ(evderived_parse(rows[i].text, &d, &err), -EINVAL);
		CHECK(!evderived_name(&d));
		if (!CHECK(strstr(err.text, rows[i].says)))
			printf("# %s gives '%s'\n", rows[i].text, err.text);
	}
}

TESTS(T(derived_events_are_collected), T(what_does_not_go_is_refused_with_the_reason),
      T(who_counts_refuses_them), T(a_feature_that_is_not_there_is_named),
      T(the_argument_of_ext_feature_is_read), T(wrong_arguments_are_refused_with_the_reason))
