/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ocount reads and prints; what it counts is in tests/live/ocount.sh. */
#include "test.h"

#include "base/strbuf.h"
#include "tools/ocount/ocount_events.h"
#include "tools/ocount/ocount_report.h"

#include <errno.h>

static void events_have_no_count(void)
{
	static const struct {
		const char *list;
		int count; /* or -EINVAL */
		const char *label;
		bool kernel, user;
	} rows[] = {
		{ "PAGE_FAULTS", 1, "PAGE_FAULTS", true, true },
		{ "PAGE_FAULTS:0", 1, "PAGE_FAULTS:0", true, true },
		{ "PAGE_FAULTS::0", 1, "PAGE_FAULTS::0", false, true },
		{ "PAGE_FAULTS:0:1:0", 1, "PAGE_FAULTS:0:1:0", true, false },
		{ "TASK_CLOCK,PAGE_FAULTS:0:0:1", 2, "PAGE_FAULTS:0:0:1", false, true },
		{ "PAGE_FAULTS,PAGE_FAULTS:0:1:1", 1, "PAGE_FAULTS", true, true },
		{ "TASK_CLOCK,PAGE_FAULTS:0:1:0,PAGE_FAULTS:0:0:1", 3, "PAGE_FAULTS:0:0:1", false,
		  true },
		{ "TIMER", 1, "TIMER", true, true },
		{ "PAGE_FAULTS:0:0:0", -EINVAL, "", false, false },
		{ "PAGE_FAULTS:0:1:1:1", -EINVAL, "", false, false },
		{ "PAGE_FAULTS:100000:1:1", -EINVAL, "", false, false },
		{ "PAGE_FAULTZ", -EINVAL, "", false, false },
		{ "PAGE_FAULTS,", -EINVAL, "", false, false },
		{ "", -EINVAL, "", false, false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ocount_events events = { 0 };
		struct error err = ERROR_INIT;
		int r = ocount_events_add(&events, rows[i].list, &err);
		size_t last = events.count - 1;

		printf("# row \"%s\"\n", rows[i].list);
		CHECK_EQ(r, rows[i].count < 0 ? rows[i].count : 0);
		CHECK(r == 0 || *err.text);
		if (r == 0 && CHECK((int)events.count == rows[i].count)) {
			CHECK_STR(events.labels[last], rows[i].label);
			CHECK(events.events[last].kernel == rows[i].kernel);
			CHECK(events.events[last].user == rows[i].user);
		}
		ocount_events_done(&events);
	}
}

static void the_default_event_has_its_name(void)
{
	struct ocount_events events = { 0 };
	struct error err = ERROR_INIT;

	CHECK_EQ(ocount_events_add(&events, "default", &err), 0);
	CHECK_STR(events.labels[0], events.events[0].name);
	ocount_events_done(&events);
}

static void defaults_begin_with_cycles_and_have_what_every_kernel_counts(void)
{
	struct ocount_events events = { 0 };
	struct event cycles;
	bool clock = false;
	size_t i;

	CHECK_EQ(event_parse("default", &cycles, NULL), 0);
	ocount_events_add_defaults(&events);
	CHECK_STR(events.labels[0], cycles.name);
	for (i = 0; i < events.count; i++)
		clock |= !strcmp(events.labels[i], "TASK_CLOCK");
	CHECK(clock);
	ocount_events_done(&events);
}

static void no_more_events_than_there_is_room(void)
{
	_cleanup_(strbuf_done) struct strbuf list = STRBUF_INIT;
	struct ocount_events events = { 0 };
	struct error err = ERROR_INIT;
	static const char *const names[] = {
		"TASK_CLOCK",	    "PAGE_FAULTS",	"PAGE_FAULTS_MIN",
		"PAGE_FAULTS_MAJ",  "CONTEXT_SWITCHES", "CPU_MIGRATIONS",
		"ALIGNMENT_FAULTS", "EMULATION_FAULTS", "TIMER"
	};
	static const char *const where[] = { "0:1:1", "0:1:0", "0:0:1" };
	size_t i;

	for (i = 0; i < EVENT_MAX + 1; i++)
		strbuf_addf(&list, "%s%s:%s", i ? "," : "", names[i / 3], where[i % 3]);
	CHECK_EQ(ocount_events_add(&events, strbuf_text(&list), &err), -EINVAL);
	CHECK_STR(err.text, "more than 24 events");
	CHECK_EQ(events.count, EVENT_MAX);
	ocount_events_done(&events);
}

/* Two events on two CPUs; the second event had its counter half of the time on CPU 1. */
static const struct counting_value on_two_cpus[] = {
	{ 1000000, 100, 100 },
	{ 999, 100, 100 },
	{ 234567, 100, 100 },
	{ 500, 100, 50 },
};

static char *labels[] = { (char *)"PAGE_FAULTS", (char *)"CYCLES:0:0:1" };
static const char *const all_counted[2];

/* What is printed of a report over those values. Caller frees. */
static char *printed(struct ocount_report report, const struct counting_value *values,
		     size_t places, enum ocount_format format)
{
	static const int numbers[] = { 0, 11 };
	struct counting_sum sums[4] = { 0 };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	report.labels = labels;
	report.title = "ls -l";
	report.event_count = 2;
	report.numbers = numbers;
	report.row_count = report.axis == OCOUNT_TOGETHER ? 1 : places;
	report.why_not = report.why_not ?: all_counted;
	report.sums = sums;
	ocount_report_sum(values, places, 2, report.axis, sums);
	ocount_report_print(&report, format, out);
	(void)fclose(out);
	return text;
}

static void check_printed(struct ocount_report report, const struct counting_value *values,
			  size_t places, enum ocount_format format, const char *expected)
{
	_cleanup_free_ char *text = printed(report, values, places, format);

	CHECK_STR(text, expected);
}

static void counts_come_as_a_table(void)
{
	static const struct counting_value exact[] = { { 1234567, 100, 100 }, { 999, 100, 100 } };
	struct ocount_report report = { .elapsed_ns = 1640000000 };

	check_printed(report, exact, 1, OCOUNT_TABLE,
		      "\nEvents were actively counted for 1.6 seconds.\n"
		      "Event counts (actual) for ls -l:\n"
		      "  Event             Count  % time counted\n"
		      "  PAGE_FAULTS   1,234,567          100.00\n"
		      "  CYCLES:0:0:1        999          100.00\n");
	report.elapsed_ns = 12345678;
	report.at_ns = 1700000000250000000;
	check_printed(report, exact, 1, OCOUNT_TABLE,
		      "\nCurrent time (seconds since epoch): 1700000000.2\n"
		      "\nEvents were actively counted for 0.012 seconds.\n"
		      "Event counts (actual) for ls -l:\n"
		      "  Event             Count  % time counted\n"
		      "  PAGE_FAULTS   1,234,567          100.00\n"
		      "  CYCLES:0:0:1        999          100.00\n");
}

static void scaled_counts_are_marked(void)
{
	struct ocount_report report = { .elapsed_ns = 2000000000 };

	check_printed(
		report, on_two_cpus, 2, OCOUNT_TABLE,
		"\nEvents were actively counted for 2.0 seconds.\nEvent counts (scaled) for ls "
		"-l:\n  Event             Count  % time counted\n  PAGE_FAULTS   1,234,567         "
		" 100.00\n  CYCLES:0:0:1      1,999           75.00\nEvents that shared a counter "
		"were counted part of the time; their counts are scaled up.\n");
	report.watchdog = true;
	check_printed(
		report, on_two_cpus, 2, OCOUNT_TABLE,
		"\nEvents were actively counted for 2.0 seconds.\nEvent counts (scaled) for ls "
		"-l:\n  Event             Count  % time counted\n  PAGE_FAULTS   1,234,567         "
		" 100.00\n  CYCLES:0:0:1      1,999           75.00\nEvents that shared a counter "
		"were counted part of the time; their counts are scaled up.\nThe NMI watchdog uses "
		"a counter; sysctl kernel.nmi_watchdog=0 frees it.\n");
}

static void what_never_had_a_counter_is_no_zero(void)
{
	static const struct counting_value values[] = { { 0, 100, 100 }, { 0, 100, 0 } };
	struct ocount_report report = { .elapsed_ns = 2000000000 };
	_cleanup_free_ char *table = printed(report, values, 1, OCOUNT_TABLE);
	_cleanup_free_ char *line = printed(report, values, 1, OCOUNT_JSON);

	CHECK(strstr(table, "  PAGE_FAULTS             0          100.00\n") != NULL);
	CHECK(strstr(table, "  CYCLES:0:0:1  not counted            0.00\n") != NULL);
	CHECK(strstr(line, "\"CYCLES:0:0:1\",\"count\":null,") != NULL);
}

static void cpus_and_threads_have_rows_of_their_own(void)
{
	struct ocount_report report = { .elapsed_ns = 2000000000, .axis = OCOUNT_BY_CPU };

	check_printed(report, on_two_cpus, 2, OCOUNT_TABLE,
		      "\nEvents were actively counted for 2.0 seconds.\nEvent counts (scaled) for "
		      "ls -l:\n  Event         CPU      Count  % time counted\n  PAGE_FAULTS     0 "
		      " 1,000,000          100.00\n  PAGE_FAULTS    11    234,567          "
		      "100.00\n  CYCLES:0:0:1    0        999          100.00\n  CYCLES:0:0:1   11 "
		      "     1,000           50.00\nEvents that shared a counter were counted part "
		      "of the time; their counts are scaled up.\n");
	report.axis = OCOUNT_BY_THREAD;
	check_printed(report, on_two_cpus, 2, OCOUNT_BRIEF,
		      "0,PAGE_FAULTS,1000000,100.00\n"
		      "11,PAGE_FAULTS,234567,100.00\n"
		      "0,CYCLES:0:0:1,999,100.00\n"
		      "11,CYCLES:0:0:1,1000,50.00\n");
}

static void brief_lines_have_no_separators_in_numbers(void)
{
	struct ocount_report report = { .at_ns = 1700000000000000000 };

	check_printed(report, on_two_cpus, 2, OCOUNT_BRIEF,
		      "timestamp,1700000000.0\n"
		      "PAGE_FAULTS,1234567,100.00\n"
		      "CYCLES:0:0:1,1999,75.00\n");
}

static void an_event_left_out_has_no_row(void)
{
	static const char *const why_not[] = { NULL, "no \"counter\"" };
	struct ocount_report report = { .why_not = why_not, .elapsed_ns = 5 };

	check_printed(report, on_two_cpus, 1, OCOUNT_BRIEF, "PAGE_FAULTS,1000000,100.00\n");
	check_printed(report, on_two_cpus, 1, OCOUNT_JSON,
		      "{\"for\":\"ls -l\",\"elapsed_ns\":5,\"counts\":[{\"event\":\"PAGE_FAULTS\","
		      "\"count\":1000000,\"raw\":1000000,\"enabled_ns\":100,\"running_ns\":100}],"
		      "\"not_counted\":[{\"event\":\"CYCLES:0:0:1\",\"why\":\"no \\\"counter\\\"\""
		      "}]}\n");
}

TESTS(T(events_have_no_count), T(the_default_event_has_its_name),
      T(defaults_begin_with_cycles_and_have_what_every_kernel_counts),
      T(no_more_events_than_there_is_room), T(counts_come_as_a_table), T(scaled_counts_are_marked),
      T(what_never_had_a_counter_is_no_zero), T(cpus_and_threads_have_rows_of_their_own),
      T(brief_lines_have_no_separators_in_numbers), T(an_event_left_out_has_no_row))
