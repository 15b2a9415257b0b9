/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "tools/optop/collect.h"
#include "tools/optop/optop_answer.h"

#include <math.h>

static void add(struct answer *a, const char *text)
{
	char line[256];

	(void)snprintf(line, sizeof(line), "%s", text);
	answer_add_line(a, line);
}

static void lines_become_facts_and_rows(void)
{
	_cleanup_(answer_done) struct answer a = ANSWER_INIT;

	add(&a, "fact\tsamples\t1000");
	add(&a, "fact\tlost\t7");
	add(&a, "event\tTIMER");
	add(&a, "row\t25\t400\tmain\tfib");
	add(&a, "row\t30\t30\ta\\tb\t-");
	CHECK_EQ(a.samples, 1000);
	CHECK_EQ(a.lost, 7);
	CHECK_STR(a.event, "TIMER");
	CHECK_EQ(a.count, 2);
	CHECK_STR(a.rows[0].name, "main");
	CHECK_STR(a.rows[0].image, "fib");
	CHECK_EQ(a.rows[0].total, 400);
	CHECK_STR(a.rows[1].image, "");
	CHECK_STR(strbuf_text(&a.complaint), "");
	CHECK(answer_percent(&a, 25) == 2.5);
}

/* 60 waits of 10 ms say as much as 60 samples, not as 600000. */
static void a_wait_is_one_event_however_long(void)
{
	static const struct {
		const char *squares;
		double width; /* of the interval, in percent */
	} rows[] = { { "fact\tsquares\t6000", 38.2 }, { "fact\tsquares\t0", 88 } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(answer_done) struct answer a = ANSWER_INIT, before = ANSWER_INIT;

		add(&a, "fact\tsamples\t600000");
		add(&a, "fact\tis_time\t1");
		add(&a, rows[i].squares);
		add(&a, "row\t400000\t400000\tmain\tfib");
		answer_arrange(&a, &before, ANSWER_SELF, false);
		CHECK(fabs(a.rows[0].high - a.rows[0].low - rows[i].width) < 0.1);
	}
}

static void what_is_no_answer_is_a_complaint(void)
{
	static const char *const bad[] = { "fact\tsamples\t-1",	     "fact\tcolour\t1",
					   "fact\tsamples",	     "row\t1\t2\tname",
					   "row\tx\t2\tname\timage", "opreport: no such thing" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(answer_done) struct answer a = ANSWER_INIT;

		add(&a, bad[i]);
		CHECK_EQ(a.count, 0);
		CHECK_EQ(a.samples, 0);
		CHECK(a.complaint.length > 0);
	}
}

static void a_complaint_is_without_the_name_of_who_prints_it(void)
{
	_cleanup_(answer_done) struct answer a = ANSWER_INIT;

	add(&a, "optop: no such thing");
	add(&a, "opreport: nor this");
	CHECK_STR(strbuf_text(&a.complaint), "no such thing; opreport: nor this");
}

static void nothing_that_a_terminal_obeys_is_kept(void)
{
	_cleanup_(answer_done) struct answer a = ANSWER_INIT;

	add(&a, "row\t1\t1\tev\033[2Jil\tim\001age");
	add(&a, "\033]0;title\007");
	answer_add_text(&a, "\033[31m", 5);
	CHECK_STR(a.rows[0].name, "ev\\x1b[2Jil");
	CHECK_STR(a.rows[0].image, "im\\x01age");
	CHECK(!strchr(strbuf_text(&a.complaint), '\033'));
	CHECK(!strchr(strbuf_text(&a.text), '\033'));
}

static void rows_are_sorted(void)
{
	_cleanup_(answer_done) struct answer a = ANSWER_INIT, none = ANSWER_INIT;

	add(&a, "fact\tsamples\t1000");
	add(&a, "row\t100\t900\tb\ti");
	add(&a, "row\t500\t500\ta\ti");
	answer_arrange(&a, &none, ANSWER_SELF, false);
	CHECK_STR(a.rows[0].name, "a");
	CHECK(a.rows[0].low < 50 && a.rows[0].high > 50);
	CHECK(a.rows[0].low > 45 && a.rows[0].high < 55);
	CHECK(!a.rows[1].is_near);
	answer_arrange(&a, &none, ANSWER_TOTAL, false);
	CHECK_STR(a.rows[0].name, "b");
	answer_arrange(&a, &none, ANSWER_NAME, false);
	CHECK_STR(a.rows[0].name, "a");
}

static void make_three(struct answer *a, unsigned int first, unsigned int second,
		       unsigned int third)
{
	char line[64];

	add(a, "fact\tsamples\t1000");
	(void)snprintf(line, sizeof(line), "row\t%u\t1\tfirst\ti", first);
	add(a, line);
	(void)snprintf(line, sizeof(line), "row\t%u\t1\tsecond\ti", second);
	add(a, line);
	(void)snprintf(line, sizeof(line), "row\t%u\t1\tthird\ti", third);
	add(a, line);
}

static void rows_stay_unless_it_is_no_chance(void)
{
	_cleanup_(answer_done) struct answer before = ANSWER_INIT, close = ANSWER_INIT,
					     far = ANSWER_INIT, none = ANSWER_INIT;

	make_three(&before, 100, 90, 10);
	answer_arrange(&before, &none, ANSWER_SELF, false);
	make_three(&close, 90, 100, 10);
	answer_arrange(&close, &before, ANSWER_SELF, true);
	CHECK_STR(close.rows[0].name, "first");
	CHECK(close.rows[1].is_near);
	answer_arrange(&close, &before, ANSWER_SELF, false);
	CHECK_STR(close.rows[0].name, "second");
	make_three(&far, 90, 100, 300);
	answer_arrange(&far, &before, ANSWER_SELF, true);
	CHECK_STR(far.rows[0].name, "third");
	CHECK_STR(far.rows[1].name, "first");
}

/* The view of time off the CPU is of that event, whatever the words say. */
static void a_view_has_its_own_event(void)
{
	char event[] = "event:TIMER", image[] = "image:/bin/a", *words[] = { event, image };
	struct question q = { .view = COLLECT_OFF_CPU, .words = words, .count = 2 };
	char *made[2];
	_cleanup_free_ char **all = collect_words(&q, made);

	CHECK_STR(all[0], "image:/bin/a");
	CHECK_STR(all[1], "event:OFFCPU");
	CHECK(!all[2]);
	free(made[0]);
}

TESTS(T(lines_become_facts_and_rows), T(a_wait_is_one_event_however_long),
      T(what_is_no_answer_is_a_complaint), T(a_complaint_is_without_the_name_of_who_prints_it),
      T(nothing_that_a_terminal_obeys_is_kept), T(rows_are_sorted),
      T(rows_stay_unless_it_is_no_chance), T(a_view_has_its_own_event))
