/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon/view.c and peek.c: what another thread sees of the daemon while that goes on. */
#include "test.h"

#include "base/clock.h"
#include "control/server.h"
#include "peek.h"
#include "view.h"

#include <pthread.h>

enum { TURNS = 2000 };

static void show(struct view_board *board, struct view *v, uint64_t n)
{
	v->at_ns = n;
	v->driver.sample_received = v->record.lost_samplefile = n;
	v->cpus[v->cpu_count - 1].sample_received = n;
	strbuf_clear(&v->status);
	strbuf_addf(&v->status, "turn %ju\n", (uintmax_t)n);
	view_show(board, v);
}

static void *take_turns(void *board)
{
	_cleanup_(view_done) struct view v;

	view_init(&v);
	for (uint64_t n = 1; n <= TURNS; n++)
		show(board, &v, n);
	return NULL;
}

static void a_view_is_of_one_moment(void)
{
	_cleanup_(view_board_freep) struct view_board *board = view_board_new();
	_cleanup_(view_done) struct view v;
	uint64_t last = 0, torn = 0;
	pthread_t other;

	view_init(&v);
	CHECK_EQ(pthread_create(&other, NULL, take_turns, board), 0);
	while (last < TURNS) {
		_cleanup_free_ char *text = NULL;

		view_look(board, &v);
		text = xasprintf("turn %ju\n", (uintmax_t)v.at_ns);
		torn += v.at_ns < last || v.driver.sample_received != v.at_ns ||
			v.record.lost_samplefile != v.at_ns ||
			v.cpus[v.cpu_count - 1].sample_received != v.at_ns ||
			(v.at_ns && strcmp(strbuf_text(&v.status), text) != 0);
		last = v.at_ns;
	}
	CHECK_EQ(torn, 0);
	(void)pthread_join(other, NULL);
}

static void requests_are_answered_from_the_view(void)
{
	static const struct {
		int (*ask)(const char *arg, struct strbuf *answer, void *peek, struct error *err);
		const char *arg, *answer;
	} rows[] = {
		{ peek_status, NULL, "turn 7\nuptime_s 0\n" },
		{ peek_read, "stats/sample_received", "value 7\n" },
		{ peek_read, "stats/cpu0/sample_received", "value 3\n" },
		{ peek_read, "stats/event_lost_overflow", "value 5\n" },
		{ peek_read, "/enable", "value 0\n" },
		{ peek_read, "cpu_type", "text timer" },
		{ peek_read, "0/count", "value 999\n" },
		{ peek_stat, "0/count", "mode 100644\n" },
		{ peek_list, "stats/cpu0", "sample_lost_overflow 100444 a counter\n" },
	};
	_cleanup_(view_board_freep) struct view_board *board = view_board_new();
	_cleanup_(peek_freep) struct peek *peek = peek_new(board, clock_now_ns());
	_cleanup_(view_done) struct view v;
	struct error err = ERROR_INIT;

	view_init(&v);
	v.settings = (struct node_settings){ .counter_count = 1, .counters = { { .count = 999 } } };
	v.event_lost = 5;
	v.cpu_type = "timer";
	v.cpus[0].sample_received = 3;
	v.cpu_count = 1;
	show(board, &v, 7);
	v.cpus[0].sample_received = 3;
	view_show(board, &v);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;

		CHECK_EQ(rows[i].ask(rows[i].arg, &answer, peek, &err), 0);
		if (!CHECK(!strncmp(strbuf_text(&answer), rows[i].answer, strlen(rows[i].answer))))
			printf("# %s: %.*s\n", rows[i].arg,
			       (int)strcspn(strbuf_text(&answer), "\n"), strbuf_text(&answer));
	}
}

static void cookies_are_the_main_loops(void)
{
	static const char *const paths[] = { "cookies", "cookies/7", "/cookies/7", "cookies/" };
	_cleanup_(view_board_freep) struct view_board *board = view_board_new();
	_cleanup_(peek_freep) struct peek *peek = peek_new(board, clock_now_ns());
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
	struct error err = ERROR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		CHECK_EQ(peek_list(paths[i], &answer, peek, &err), CONTROL_PASSED);
		CHECK_EQ(peek_stat(paths[i], &answer, peek, &err), CONTROL_PASSED);
		CHECK_EQ(peek_read(paths[i], &answer, peek, &err), CONTROL_PASSED);
	}
	CHECK_EQ(peek_list(NULL, &answer, peek, &err), 0);
	CHECK(strstr(strbuf_text(&answer), "\ncookies 40500 "));
	CHECK(peek_read("cookies7", &answer, peek, &err) < 0);
}

TESTS(T(a_view_is_of_one_moment), T(requests_are_answered_from_the_view),
      T(cookies_are_the_main_loops))
