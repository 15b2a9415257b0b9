/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon/status.c: what the daemon answers to "status", over a replayed stream, and that whoever
 * shows it knows each line. */
#include "test.h"

#include "base/clock.h"
#include "control/client.h"
#include "control/settings.h"
#include "event/evderived.h"
#include "identity/cookie.h"
#include "meter.h"
#include "collect/collector.h"
#include "status.h"
#include "stream/evbuf.h"
#include "stream/stream_file.h"
#include "tools/common/status_view.h"

/* A daemon that replays, with one event and limits of every kind. */
struct bench {
	char *dir, *session, *stream;
	struct collector *collector;
	struct settings settings;
	struct evderived derived;
	struct meter meter;
	struct status status;
};

static char *make_stream(const char *dir)
{
	char *path = path_join(dir, "stream");
	struct cookie_table *cookies = cookie_table_new();
	const struct driver_stats totals = { .sample_received = 20,
					     .sample_lost_overflow = 4,
					     .sample_lost_no_mm = 3,
					     .throttled = 2 };
	struct stream_file *file = NULL;
	struct event event;
	struct evbuf *b;

	event_timer(&event, 100, true, true);
	CHECK_EQ(stream_file_create(path, &event, 1, cookies, &file, NULL), 0);
	b = evbuf_new(64, stream_file_words, file);
	evbuf_context(b, &(struct evbuf_context){ .tgid = 7, .tid = 7, .app = 1 });
	evbuf_sample(b, cookie_file(cookies, &(struct file_identity){ .inode = 1 }, "/bin/p"), 0x10,
		     0, 5);
	CHECK_EQ(evbuf_flush(b), 0);
	evbuf_free(b);
	CHECK_EQ(stream_file_close(file, &totals, NULL), 0);
	cookie_table_free(cookies);
	return path;
}

static void bench_init(struct bench *b)
{
	struct error err = ERROR_INIT;

	*b = (struct bench){ .dir = test_directory(), .settings = settings_default() };
	b->session = path_join(b->dir, "session");
	b->stream = make_stream(b->dir);
	CHECK_EQ(settings_set(&b->settings, SETTING_SESSION_DIR, b->session, &err), 0);
	const struct collector_config config = {
		.driver = "replay",
		.turn = &b->meter.turn,
		.drive = { .replay_path = b->stream },
		.record = { .session_dir = b->session,
			    .session_name = "current",
			    .no_vmlinux = true },
		.quota = { .memory = 64 << 20, .disk = 2 << 20, .keep_free = 1 << 20, .files = 90 },
	};

	if (collector_new(&config, &b->collector, &err) < 0) {
		printf("# %s\n", err.text);
		abort();
	}
	b->status = (struct status){ .settings = &b->settings,
				     .derived = &b->derived,
				     .collector = b->collector,
				     .meter = &b->meter };
}

static void bench_done(struct bench *b)
{
	collector_free(b->collector);
	settings_done(&b->settings);
	free(b->session);
	free(b->stream);
	test_directory_donep(&b->dir);
}
#define BENCH(b)                                                                                   \
	_cleanup_(bench_done) struct bench b;                                                      \
	bench_init(&b)

static void check_value(const struct strbuf *answer, const char *key, const char *value)
{
	_cleanup_free_ char *found = control_value(answer->text, key);

	if (!CHECK(found && !strcmp(found, value)))
		printf("# %s is %s, not %s\n", key, found ?: "missing", value);
}

/* The answer holds each of the keys with its value. */
static void check_values(const struct strbuf *answer, const char *const (*rows)[2], size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		check_value(answer, rows[i][0], rows[i][1]);
}

static void a_daemon_that_samples_says_what(void)
{
	BENCH(b);
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
	const char *const rows[][2] = {
		{ "state", "running" },
		{ "event", "TIMER:100:0:1:1" },
		{ "separate", "library" },
		{ "images", "/bin/p" },
		{ "session_dir", b.session },
		{ "samples_received", "20" },
		{ "samples_lost", "7" },
		{ "counter", "sample_received 20 samples received" },
		{ "budget_percent", "12.3456789" },
		{ "memory_max_kib", "65536" },
		{ "disk_max_kib", "2048" },
		{ "keep_free_kib", "1024" },
		{ "descriptors_max", "90" },
		{ "open_files", "1" },
		{ "shed", "none" },
	};

	CHECK_EQ(settings_set(&b.settings, SETTING_SEPARATE, "library", NULL), 0);
	CHECK_EQ(settings_set(&b.settings, SETTING_IMAGE_FILTER, "/bin/p", NULL), 0);
	CHECK_EQ(settings_set(&b.settings, SETTING_BUDGET, "12.3456789%", NULL), 0);
	CHECK_EQ(collector_start(b.collector, NULL), 0);
	CHECK_EQ(collector_sync(b.collector, true, NULL), 1);
	status_answer(&b.status, &answer);
	check_values(&answer, rows, ARRAY_SIZE(rows));
	CHECK(strstr(strbuf_text(&answer), "\ncounter samples 5 "));
	CHECK(strstr(strbuf_text(&answer), "\ncounter throttled 2 "));
	CHECK(!strstr(strbuf_text(&answer), " 0 "));
	CHECK_EQ(collector_stop(b.collector, NULL), 0);
}

static void the_longest_time_without_a_drain_is_shown(void)
{
	BENCH(b);
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
	_cleanup_free_ char *busy = NULL, *stage = NULL;
	struct turn *turn = &b.meter.turn;

	turn_begin(turn);
	turn->begun_ns = turn->marked_ns -= 300000000;
	turn_stage(turn, TURN_QUOTA);
	turn_end(turn);
	turn_begin(turn);
	turn_end(turn);
	CHECK_EQ(turn->late, 1);
	status_answer(&b.status, &answer);
	busy = control_value(answer.text, "busy_longest_ms");
	CHECK(busy && strtod(busy, NULL) >= 300);
	stage = control_value(answer.text, "busy_stage");
	CHECK(stage && !strncmp(stage, "quota 300", 9));
	CHECK(strstr(strbuf_text(&answer), "\ncounter drains_late 1 "));
}

static double busy_ms(const struct bench *b)
{
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
	_cleanup_free_ char *busy = NULL;

	status_answer(&b->status, &answer);
	busy = control_value(answer.text, "busy_longest_ms");
	return busy ? strtod(busy, NULL) : -1;
}

/* As if the turn had begun earlier. */
static void predate(struct turn *turn)
{
	turn->begun_ns = turn->marked_ns -= 300000000;
}

static void a_turn_counts_before_its_end(void)
{
	BENCH(b);
	struct turn *turn = &b.meter.turn;

	turn_begin(turn);
	predate(turn);
	CHECK(busy_ms(&b) >= 300);
	CHECK_EQ(turn->longest_ns, 0);
}

static void a_start_forgets_the_longest_times(void)
{
	BENCH(b);
	struct turn *turn = &b.meter.turn;

	turn_begin(turn);
	predate(turn);
	turn_stage(turn, TURN_QUOTA);
	CHECK_EQ(collector_start(b.collector, NULL), 0);
	turn_end(turn); /* it began before the start */
	CHECK(turn->longest_ns < 300000000);
	CHECK(turn->stages_ns[TURN_QUOTA] < 300000000);
}

static void what_follows_a_start_counts(void)
{
	BENCH(b);

	CHECK_EQ(collector_start(b.collector, NULL), 0);
	predate(&b.meter.turn);
	CHECK(busy_ms(&b) >= 300);
}

static void nothing_counts_after_a_stop(void)
{
	BENCH(b);
	struct turn *turn = &b.meter.turn;

	CHECK_EQ(collector_start(b.collector, NULL), 0);
	CHECK_EQ(collector_stop(b.collector, NULL), 0);
	predate(turn);
	CHECK(busy_ms(&b) < 300);
	turn_stage(turn, TURN_STATS);
	turn_end(turn);
	CHECK(turn->longest_ns < 300000000);
	CHECK(turn->stages_ns[TURN_STATS] < 300000000);
	CHECK_EQ(turn->late, 0);
}

static void a_daemon_that_stopped_costs_nothing(void)
{
	BENCH(b);
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
	const char *const rows[][2] = {
		{ "state", "stopped" },
		{ "trouble", "the disk is full" },
		{ "separate", "library,kernel" },
		{ "samples_per_s", "0.0" },
		{ "cpu_percent", "0.00" },
		{ "cost_percent", "0.000" },
		{ "stretch", "1.00" },
		{ "stretch_highest", "1.00" },
		{ "samples_received", "0" },
		{ "samples_lost", "0" },
	};

	CHECK_EQ(settings_set(&b.settings, SETTING_BUDGET, "none", NULL), 0);
	b.status.trouble = "the disk is full";
	status_answer(&b.status, &answer);
	check_values(&answer, rows, ARRAY_SIZE(rows));
	CHECK(!strstr(strbuf_text(&answer), "\nbudget_percent "));
	CHECK(!strstr(strbuf_text(&answer), "\nimages "));
	CHECK(!strstr(strbuf_text(&answer), "\ncounter "));
}

/* opcontrol --status --json has a member for each key. */
static void no_line_is_unknown_to_the_view(void)
{
	BENCH(b);
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
	_cleanup_free_ char *json = NULL;
	char *rest, *line;
	size_t size;
	FILE *out;

	b.status.trouble = "something";
	CHECK_EQ(settings_set(&b.settings, SETTING_IMAGE_FILTER, "/bin/p", NULL), 0);
	status_answer(&b.status, &answer);
	status_answer_now(&(struct status_now){ .now_ns = 9 * NS_PER_S, .running = true }, &answer);
	out = open_memstream(&json, &size);
	status_view_json(strbuf_text(&answer), out);
	(void)fclose(out);
	for (rest = answer.text; (line = strsep(&rest, "\n")) && *line;) {
		_cleanup_free_ char *key = xstrndup(line, strcspn(line, " "));
		_cleanup_free_ char *one = xasprintf("\"%s\": ", key);
		_cleanup_free_ char *list = xasprintf("\"%ss\": ", key);

		if (!CHECK(strstr(json, one) || strstr(json, list)))
			printf("# %s\n", line);
	}
}

static void what_is_old_is_said_to_be(void)
{
	static const struct {
		struct status_now now;
		const char *answer;
	} rows[] = {
		{ { 95 * NS_PER_S, 5 * NS_PER_S, 94 * NS_PER_S, true }, "uptime_s 90\n" },
		{ { 95 * NS_PER_S, 5 * NS_PER_S, 91 * NS_PER_S, true },
		  "uptime_s 90\nage_s 4.0\n" },
		{ { 95 * NS_PER_S, 5 * NS_PER_S, 91 * NS_PER_S, false }, "uptime_s 90\n" },
		{ { 95 * NS_PER_S, 5 * NS_PER_S, 96 * NS_PER_S, true }, "uptime_s 90\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;

		status_answer_now(&rows[i].now, &answer);
		*strstr(answer.text, "resident_kib ") =
			'\0'; /* and what follows is this machine's */
		CHECK_STR(answer.text, rows[i].answer);
	}
}

TESTS(T(a_daemon_that_samples_says_what), T(what_is_old_is_said_to_be),
      T(the_longest_time_without_a_drain_is_shown), T(a_start_forgets_the_longest_times),
      T(a_turn_counts_before_its_end), T(what_follows_a_start_counts),
      T(nothing_counts_after_a_stop), T(a_daemon_that_stopped_costs_nothing),
      T(no_line_is_unknown_to_the_view))
