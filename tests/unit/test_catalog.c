/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/catalog.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "event/cpu_type.h"
#include "event/event.h"
#include "event/ibs_event.h"
#include "test.h"

#include <errno.h>
#include <linux/perf_event.h>

/* Before anything is read: a tree in which this machine's CPU has these events. */
static void own_tree(void)
{
	static const char events[] =
		"event:0x141 counters:0,1 um:kinds minimum:500 name:NAMED : with named masks\n"
		"event:0x41 counters:1 um:bits minimum:500 name:BITS : with bits\n";
	static const char masks[] = "name:kinds type:exclusive default:rare\n"
				    "\t0x1 extra: often Often\n"
				    "\t0x1 extra:inv,cmask=2 never Never\n"
				    "\t0x2 extra:edge,pebs rare Rarely\n"
				    "\t0x3 extra: four Four\n"
				    "name:bits type:bitmask default:0x3\n"
				    "\t0x1 one\n\t0x2 two\n";
	const char *key = cpu_type_detect("", false)->key;
	char dir[] = "/tmp/test_catalog.XXXXXX";
	_cleanup_free_ char *text = NULL, *masks_path = NULL;
	struct error err = ERROR_INIT;

	if (!CHECK(mkdtemp(dir)))
		return;
	text = xasprintf("%s/%s/events", dir, key);
	masks_path = xasprintf("%s/%s/unit_masks", dir, key);
	CHECK_EQ(path_make_parents(text, 0755, &err), 0);
	CHECK_EQ(path_write(text, events, 0644, &err), 0);
	CHECK_EQ(path_write(masks_path, masks, 0644, &err), 0);
	CHECK_EQ(setenv("OPROFILE_EVENTS_DIR", dir, 1), 0);
	CHECK(!catalog_problem(catalog_here()));
	CHECK(catalog_find("NAMED") && catalog_find("PAGE_FAULTS") && catalog_find("TIMER"));
	CHECK_EQ(path_remove_tree(dir, &err), 0);
}

static bool on_amd(void)
{
	return !strncmp(cpu_type_detect("", false)->key, "x86-64/", strlen("x86-64/"));
}

static void masks_go_by_name_and_number(void)
{
	const uint64_t code = on_amd() ? 0x100000041 : 0x141;
	const struct {
		const char *spec, *text;
		uint64_t config;
		uint8_t precise;
	} rows[] = {
		{ "NAMED", "NAMED:100000:rare:1:1", code | 1 << 18 | 0x200, 2 },
		{ "NAMED:500:rare", "NAMED:500:rare:1:1", code | 1 << 18 | 0x200, 2 },
		{ "NAMED:500:often", "NAMED:500:often:1:1", code | 0x100, 0 },
		{ "NAMED:500:never:0", "NAMED:500:never:0:1", code | 1 << 23 | 2 << 24 | 0x100, 0 },
		{ "NAMED:500:3", "NAMED:500:four:1:1", code | 0x300, 0 },
		{ "NAMED:500:2", "NAMED:500:rare:1:1", code | 1 << 18 | 0x200, 2 },
		{ "named:500:OFTEN", "NAMED:500:often:1:1", code | 0x100, 0 },
		{ "Named_Four", "NAMED:100000:four:1:1", code | 0x300, 0 },
		{ "NAMED.rare:500:2", "NAMED:500:rare:1:1", code | 1 << 18 | 0x200, 2 },
		{ "NAMED:500:0", "NAMED:500:rare:1:1", code | 1 << 18 | 0x200, 2 },
		{ "BITS:500", "BITS:500:3:1:1", 0x341, 0 },
		{ "BITS:500:0x2", "BITS:500:2:1:1", 0x241, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = ERROR_INIT;
		struct event event = { 0 }, again = { 0 };

		if (!CHECK(event_parse(rows[i].spec, &event, &err) == 0)) {
			printf("# %s: %s\n", rows[i].spec, err.text);
			continue;
		}
		_cleanup_free_ char *text = event_text(&event);
		CHECK_STR(text, rows[i].text);
		CHECK_EQ(event.perf_type, PERF_TYPE_RAW);
		CHECK_EQ(event.perf_config, rows[i].config);
		CHECK_EQ(event.precise, rows[i].precise);
		CHECK_EQ(event_parse(text, &again, &err), 0);
		CHECK_EQ(again.unit_mask, event.unit_mask);
		CHECK_EQ(again.perf_config, event.perf_config);
	}
}

static void bad_masks_name_the_good_ones(void)
{
	static const struct {
		const char *spec, *says;
	} rows[] = {
		{ "NAMED:500:1",
		  "Unit mask 0x1 of event NAMED is ambiguous; use one of often, never" },
		{ "NAMED:500:7",
		  "Invalid unit mask 0x7 for event NAMED; available: often, never, rare, four" },
		{ "NAMED:500:seldom",
		  "Invalid unit mask seldom for event NAMED; available: often" },
		{ "BITS:500:4", "Invalid unit mask 0x4 for event BITS; available: 0x1, 0x2" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = ERROR_INIT;
		struct event event;

		CHECK_EQ(event_parse(rows[i].spec, &event, &err), -EINVAL);
		if (!strstr(err.text, rows[i].says)) {
			printf("# '%s' gives '%s'\n", rows[i].spec, err.text);
			CHECK(!"the message names the reason");
		}
	}
}

static void count_lines(enum log_level level _unused_, const char *text, void *data)
{
	printf("# %s\n", text);
	++*(size_t *)data;
}

/* Every type has valid files, its own or those of a substitute, without anything to remark. */
static void every_cpu_type_has_events(void)
{
	const struct cpu_type *type, *here = cpu_type_detect("", false);
	size_t i, t, remarks = 0;

	log_to(LOG_LEVEL_DEBUG, count_lines, &remarks);
	for (t = 0; (type = cpu_type_at(t)); t++) {
		const struct catalog *c = catalog_of(type);

		if (type == here)
			continue;
		if (catalog_problem(c))
			printf("# %s: %s\n", type->key, catalog_problem(c));
		CHECK(!catalog_problem(c));
		CHECK(catalog_default(type)->kind == CATALOG_COUNTER);
		CHECK(catalog_event_find(c, "CONTEXT_SWITCHES"));
		for (i = 0; i < catalog_size(c); i++) {
			const struct catalog_event *event = catalog_event_at(c, i);

			CHECK(catalog_event_find(c, event->name) == event);
			CHECK(catalog_mask_valid(event, event->default_mask));
		}
	}
	log_to(LOG_LEVEL_DEBUG, NULL, NULL);
	CHECK_EQ(remarks, 0);
	CHECK(t >= 88);
}

/* A list of nothing but what the kernel offers on any CPU says so, and no other does. */
static void what_is_missing_is_said(void)
{
	const struct catalog *any = catalog_of(cpu_type_named("rtc"));
	const struct cpu_type *type;
	size_t i, t, own, said = 0;

	CHECK(catalog_gap(any) && !catalog_gap(catalog_of(cpu_type_named("timer"))));
	for (t = 0; (type = cpu_type_at(t)); t++) {
		const struct catalog *c = catalog_of(type);
		const char *gap = catalog_gap(c);

		for (i = own = 0; i < catalog_size(c); i++) {
			own += !catalog_event_find(any, catalog_event_peek(c, i)->name);
			CHECK(!gap || !catalog_event_peek(c, i)->pfm);
		}
		if (!own && !gap && strcmp(type->key, "timer") != 0) {
			printf("# %s\n", type->key);
			CHECK(!"the list says what it lacks");
		}
		CHECK(!gap || strstr(gap, type->pretty));
		said += gap != NULL;
	}
	CHECK(said >= 12);
}

static void ibs_events_are_those_that_are_derived(void)
{
	const struct catalog *c = catalog_of(cpu_type_by_id(35)); /* x86-64/family10 */
	const struct ibs_event *derived;
	size_t i, described = 0, known = 0;

	for (known = 0; (derived = ibs_event_at(known)); known++) {
		const struct catalog_event *event = catalog_event_find(c, derived->name);

		if (!CHECK(event)) {
			printf("# %s\n", derived->name);
			continue;
		}
		CHECK_EQ(event->code, derived->code);
		CHECK_STR(event->feature, derived->kind == IBS_FETCH ? "ibs_fetch" : "ibs_op");
	}
	for (i = 0; i < catalog_size(c); i++)
		described += catalog_event_at(c, i)->kind == CATALOG_FEATURE &&
			     !strncmp(catalog_event_at(c, i)->feature, "ibs_", 4);
	CHECK_EQ(described, known);
}

TESTS(T(own_tree), T(masks_go_by_name_and_number), T(bad_masks_name_the_good_ones),
      T(every_cpu_type_has_events), T(what_is_missing_is_said),
      T(ibs_events_are_those_that_are_derived))
