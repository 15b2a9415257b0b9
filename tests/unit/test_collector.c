/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Over the driver "replay", so that nothing depends on the machine. */
#include "test.h"

#include "base/clock.h"
#include "driver/driver.h"
#include "identity/cookie.h"
#include "stream/stream_file.h"
#include "collect/collector.h"
#include "collect/internal/collector_state.h"
#include "sfile/odb.h"
#include "sfile/session.h"
#include "sfile/setup.h"
#include "sfile/sfile.h"
#include "stats/turn.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#define ESC EVBUF_ESCAPE

/* Three samples in the program, one in the kernel. */
static const uint64_t stream[] = { ESC,
				   EVBUF_CPU_SWITCH,
				   0,
				   ESC,
				   EVBUF_USER_ENTER,
				   ESC,
				   EVBUF_CTX_SWITCH,
				   7,
				   1,
				   ESC,
				   EVBUF_CTX_TGID,
				   7,
				   ESC,
				   EVBUF_COOKIE_SWITCH,
				   1,
				   0x10,
				   0,
				   0x10,
				   0,
				   0x20,
				   0,
				   ESC,
				   EVBUF_KERNEL_ENTER,
				   0x1234,
				   0 };

static const char program[] = "{root}/bin/p/{dep}/{root}/bin/p/TIMER.0.0.all.all.all";

/* A sample in the program, and one of a counter after that of the event: 5 us off the CPU. */
static const uint64_t stream_with_offcpu[] = {
	ESC,
	EVBUF_CPU_SWITCH,
	0,
	ESC,
	EVBUF_USER_ENTER,
	ESC,
	EVBUF_CTX_SWITCH,
	7,
	1,
	ESC,
	EVBUF_CTX_TGID,
	7,
	ESC,
	EVBUF_COOKIE_SWITCH,
	1,
	0x10,
	0,
	ESC,
	EVBUF_WEIGHT,
	5,
	0x20,
	1,
};

/* Records the stream in a file below @dir; caller frees the path. */
static char *recorded_words(const char *dir, const uint64_t *words, size_t count)
{
	char *path = path_join(dir, "stream");
	struct cookie_table *cookies = cookie_table_new();
	char image[] = "/bin/p";
	struct event event;
	struct stream_file *tee = NULL;

	event_timer(&event, 100, false, true);
	cookie_define(cookies,
		      &(struct cookie_image){ .cookie = 1, .kind = COOKIE_FILE, .path = image });
	CHECK_EQ(stream_file_create(path, &event, 1, cookies, &tee, NULL), 0);
	CHECK_EQ(stream_file_words(words, count, tee), 0);
	CHECK_EQ(stream_file_close(tee, &(struct driver_stats){ .sample_received = 4 }, NULL), 0);
	cookie_table_free(cookies);
	return path;
}

static char *recorded(const char *dir)
{
	return recorded_words(dir, stream, ARRAY_SIZE(stream));
}

static struct collector *open_collector(const char *dir, const char *stream_path, const char *tee)
{
	_cleanup_free_ char *session = path_join(dir, "session");
	struct collector_config config = {
		.driver = "replay",
		.drive = { .replay_path = stream_path },
		.record = { .session_dir = session, .session_name = "current", .no_vmlinux = true },
		.tee_path = tee
	};
	struct collector *c = NULL;
	struct error err = ERROR_INIT;

	if (collector_new(&config, &c, &err) < 0) {
		printf("# %s\n", err.text);
		CHECK(c != NULL);
	}
	return c;
}

/* The names of the events that the session's setup has, "TIMER,OFFCPU"; caller frees. */
static char *events_of(const char *session)
{
	_cleanup_free_ char *samples = session_samples(session, "current");
	struct strbuf names = STRBUF_INIT;
	struct setup setup = { 0 };
	size_t i;

	CHECK_EQ(setup_read(samples, &setup, NULL), 0);
	for (i = 0; i < setup.event_count; i++)
		strbuf_addf(&names, "%s%s", i ? "," : "", setup.events[i].name);
	setup_done(&setup);
	return strbuf_take(&names);
}

/* The count at @key of the program's sample file in session @name. */
static uint32_t count_at(const char *dir, const char *name, uint64_t key)
{
	_cleanup_free_ char *session = path_join(dir, "session");
	_cleanup_free_ char *samples = session_samples(session, name);
	_cleanup_free_ char *path = path_join(samples, program);
	_cleanup_(sfile_closep) struct sfile *sf = NULL;

	return sfile_open(path, &sf, NULL) < 0 ? 0 : odb_get(sfile_odb(sf), key);
}

static uint64_t stat_of(const char *dir, const char *name)
{
	_cleanup_free_ char *session = path_join(dir, "session");
	_cleanup_free_ char *samples = session_samples(session, "current");

	return session_stat_get(samples, name);
}

static void a_replayed_stream_is_recorded_with_its_statistics(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = recorded(dir);
	_cleanup_(collector_freep) struct collector *c = open_collector(dir, path, NULL);
	struct driver_stats driver;
	struct record_stats record;

	if (!c)
		return;
	CHECK(!collector_running(c));
	CHECK_EQ(collector_start(c, NULL), 0);
	CHECK(collector_running(c));
	CHECK_EQ(collector_sync(c, true, NULL), 1);
	CHECK_EQ(collector_stop(c, NULL), 0);
	CHECK_EQ(count_at(dir, "current", 0x10), 2);
	CHECK_EQ(count_at(dir, "current", 0x20), 1);
	collector_stats(c, &driver, &record);
	CHECK_EQ(driver.sample_received, 4);
	CHECK_EQ(record.samples, 4);
	CHECK_EQ(record.kernel_samples, 1);
	CHECK_EQ(stat_of(dir, "total_samples"), 4);
	CHECK_EQ(stat_of(dir, "sample_received"), 4);
}

static uint64_t taken_until_now(const struct driver *d _unused_)
{
	return clock_now_ns();
}

/* The source ends before all its samples are counted; those must be in a slice, too. */
static void the_last_slice_ends_when_sampling_is_stopped(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = recorded(dir);
	_cleanup_(collector_freep) struct collector *c = open_collector(dir, path, NULL);
	struct driver_ops ops;

	if (!c)
		return;
	ops = *c->ops;
	ops.taken_until_ns = taken_until_now;
	c->ops = &ops;
	c->has_history = true;
	CHECK_EQ(collector_start(c, NULL), 0);
	CHECK_EQ(collector_sync(c, false, NULL), 1);
	CHECK(c->slicing.begin_ns != 0);
	CHECK_EQ(collector_stop(c, NULL), 0);
	CHECK_EQ(c->slicing.begin_ns, 0);
	CHECK_EQ(c->slicing.then.samples, 4);
	c->ops = &driver_replay;
}

static void the_session_says_what_was_sampled(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = recorded(dir);
	_cleanup_free_ char *samples = path_join(dir, "session/samples/current");
	_cleanup_(collector_freep) struct collector *c = open_collector(dir, path, NULL);
	struct setup setup = { 0 };

	if (!c)
		return;
	CHECK_EQ(collector_start(c, NULL), 0);
	CHECK_EQ(setup_read(samples, &setup, NULL), 0);
	CHECK(setup.driver && strstr(setup.driver, "replay"));
	CHECK_STR(setup.cpu_type, "timer");
	if (CHECK(setup.event_count == 1)) {
		CHECK_STR(setup.events[0].name, "TIMER");
		CHECK_EQ(setup.events[0].rate_hz, 100);
	}
	setup_done(&setup);
}

static void a_second_writer_is_refused(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = recorded(dir);
	_cleanup_free_ char *session = path_join(dir, "session");
	_cleanup_(collector_freep) struct collector *c = open_collector(dir, path, NULL);
	struct collector_config config = { .driver = "replay",
					   .drive = { .replay_path = path },
					   .record = { .session_dir = session,
						       .session_name = "current" } };
	struct collector *second = NULL;

	CHECK(c != NULL);
	CHECK_EQ(collector_new(&config, &second, NULL), -EBUSY);
	CHECK(second == NULL);
}

static void a_driver_nobody_knows_is_refused(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct collector_config config = { .driver = "punched-cards",
					   .record = { .session_dir = dir,
						       .session_name = "current" } };
	struct collector *c = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(collector_new(&config, &c, &err), -EINVAL);
	CHECK(strstr(err.text, "punched-cards"));
}

static void reset_empties_the_session(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = recorded(dir);
	_cleanup_(collector_freep) struct collector *c = open_collector(dir, path, NULL);
	size_t mapped;

	if (!c)
		return;
	CHECK_EQ(collector_start(c, NULL), 0);
	CHECK_EQ(collector_sync(c, true, NULL), 1);
	CHECK_EQ(collector_open_files(c, &mapped), 2);
	CHECK(mapped > 0);
	CHECK_EQ(collector_reset(c, NULL), 0);
	CHECK_EQ(collector_open_files(c, &mapped), 0);
	CHECK_EQ(mapped, 0);
	CHECK_EQ(count_at(dir, "current", 0x10), 0);
	CHECK_EQ(stat_of(dir, "total_samples"), 0);
}

static void save_moves_the_session_once(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = recorded(dir);
	_cleanup_(collector_freep) struct collector *c = open_collector(dir, path, NULL);

	if (!c)
		return;
	CHECK_EQ(collector_start(c, NULL), 0);
	CHECK_EQ(collector_sync(c, true, NULL), 1);
	CHECK_EQ(collector_save(c, "../x", NULL), -EINVAL);
	CHECK_EQ(collector_save(c, "first", NULL), 0);
	CHECK_EQ(count_at(dir, "first", 0x10), 2);
	CHECK_EQ(count_at(dir, "current", 0x10), 0);
	CHECK_EQ(collector_save(c, "first", NULL), -EEXIST);
	CHECK_EQ(count_at(dir, "first", 0x10), 2);
}

static void what_is_teed_replays_alike(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_directory_ char *other = test_directory();
	_cleanup_free_ char *path = recorded(dir), *copy = path_join(dir, "copy");
	struct collector *c = open_collector(dir, path, copy);

	if (!c)
		return;
	CHECK_EQ(collector_start(c, NULL), 0);
	CHECK_EQ(collector_sync(c, true, NULL), 1);
	collector_free(c);
	c = open_collector(other, copy, NULL);
	if (!c)
		return;
	CHECK_EQ(collector_start(c, NULL), 0);
	CHECK_EQ(collector_sync(c, true, NULL), 1);
	collector_free(c);
	CHECK_EQ(count_at(other, "current", 0x10), 2);
	CHECK_EQ(count_at(other, "current", 0x20), 1);
}

/* What collector_print_stats() writes; caller frees. */
static char *printed_stats(const struct collector *c)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	collector_print_stats(c, out);
	CHECK_EQ(fclose(out), 0);
	return text;
}

static void statistics_go_on_after_a_change_of_settings(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = recorded(dir), *session = path_join(dir, "session");
	_cleanup_free_ char *before = NULL, *after = NULL;
	_cleanup_(collector_freep) struct collector *c = open_collector(dir, path, NULL);
	struct collector_config config = { .driver = "replay",
					   .drive = { .replay_path = path },
					   .record = { .session_dir = session,
						       .session_name = "current",
						       .no_vmlinux = true,
						       .separate = RECORD_SEPARATE_CPU } };

	if (!c)
		return;
	CHECK_EQ(collector_start(c, NULL), 0);
	CHECK_EQ(collector_sync(c, true, NULL), 1);
	CHECK_EQ(collector_stop(c, NULL), 0);
	before = printed_stats(c);
	CHECK(strstr(before, "Nr. kernel samples: 1\n"));
	CHECK(strstr(before, "Nr. samples received: 4\n"));
	CHECK_EQ(collector_change(c, &config, true, NULL), 0);
	after = printed_stats(c);
	CHECK_STR(after, before);
}

static void those_of_an_extended_feature_go_on_too(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path =
		recorded_words(dir, stream_with_offcpu, ARRAY_SIZE(stream_with_offcpu));
	_cleanup_free_ char *session = path_join(dir, "session"), *after = NULL, *events = NULL;
	_cleanup_(collector_freep) struct collector *c = NULL;
	struct collector_config config = {
		.driver = "replay",
		.drive = { .replay_path = path, .derived.offcpu.total = true },
		.record = { .session_dir = session, .session_name = "current", .no_vmlinux = true },
	};
	int i;

	if (!CHECK(collector_new(&config, &c, NULL) == 0))
		return;
	for (i = 0; i < 2; i++) {
		CHECK_EQ(collector_start(c, NULL), 0);
		CHECK_EQ(collector_sync(c, true, NULL), 1);
		CHECK_EQ(collector_stop(c, NULL), 0);
		config.drive.derived.offcpu.blocked = true;
		CHECK_EQ(collector_change(c, &config, true, NULL), 0);
	}
	after = printed_stats(c);
	CHECK(strstr(after, "Nr. off-CPU microseconds  : 10\n"));
	events = events_of(session);
	CHECK_STR(events, "TIMER,OFFCPU");
}

static int drains, drains_left, drain_result;

static int drain_a_part(struct driver *d _unused_, bool all _unused_, struct error *err)
{
	drains++;
	drains_left--;
	return drain_result ? error_set(err, drain_result, "cannot drain") : 0;
}

static bool has_more(const struct driver *d _unused_)
{
	return drains_left > 0;
}

/* A driver whose drain has @parts, over "replay", and a loop with turns. */
static void drain_in_parts(struct collector *c, struct driver_ops *ops, struct turn *turn,
			   int parts)
{
	drains = drain_result = 0;
	drains_left = parts;
	*ops = driver_replay;
	ops->sync = drain_a_part;
	ops->has_more = has_more;
	CHECK_EQ(collector_start(c, NULL), 0);
	c->ops = ops;
	c->turn = turn;
}

static void a_drain_goes_on_in_the_next_turns(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = recorded(dir);
	struct collector *c = open_collector(dir, path, NULL);
	struct turn turn = { 0 };
	struct driver_ops ops;
	int turns;

	if (!c)
		return;
	drain_in_parts(c, &ops, &turn, 4);
	CHECK_EQ(collector_sync(c, false, NULL), 0);
	/* A turn with a part of it, and one with the rest of the work. */
	for (turns = 0; collector_tend(c) && turns < 100; turns++)
		CHECK_EQ(drains, 1 + turns / 2);
	CHECK_EQ(drains, 4);
	CHECK_EQ(turns, 7);
	/* Nothing is left for the next sync. */
	CHECK(!collector_tend(c));
	CHECK_EQ(drains, 4);
	collector_free(c);
}

static void what_fails_between_two_syncs_is_reported(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = recorded(dir);
	struct collector *c = open_collector(dir, path, NULL);
	struct error err = ERROR_INIT;
	struct turn turn = { 0 };
	struct driver_ops ops;
	int turns = 0;

	if (!c)
		return;
	drain_in_parts(c, &ops, &turn, 2);
	CHECK_EQ(collector_sync(c, false, &err), 0);
	drain_result = -EIO;
	while (collector_tend(c) && turns < 100)
		turns++;
	CHECK_EQ(drains, 2);
	drain_result = 0;
	CHECK_EQ(collector_sync(c, false, &err), -EIO);
	CHECK_STR(err.text, "cannot drain");
	CHECK_EQ(collector_sync(c, false, &err), 0);
	collector_free(c);
}

static struct collector *watched;

/* A sample, after which the driver fails. */
static int drain_and_fail(struct driver *d _unused_, bool all _unused_, struct error *err)
{
	int r = intake_words(stream, ARRAY_SIZE(stream), &watched->intake);

	return r < 0 ? r : error_set(err, -EIO, "cannot drain");
}

static void what_was_drained_before_a_failure_is_written(void)
{
	struct driver_ops ops = driver_replay; /* used until the collector is freed */
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = recorded(dir);
	_cleanup_(collector_freep) struct collector *c = watched = open_collector(dir, path, NULL);
	struct error err = ERROR_INIT;

	if (!c)
		return;
	CHECK_EQ(collector_start(c, NULL), 0);
	CHECK_EQ(driver_replay.sync(c->driver, true, NULL), 1); /* announces the images */
	ops.sync = drain_and_fail;
	c->ops = &ops;
	CHECK_EQ(collector_stop(c, &err), -EIO);
	CHECK_STR(err.text, "cannot drain");
	CHECK_EQ(count_at(dir, "current", 0x10), 4);
	CHECK_EQ(stat_of(dir, "total_samples"), 8);
}

static int turns_since;

static int drain_steadily(struct driver *d _unused_, bool all, struct error *err _unused_)
{
	turns_since = all ? 0 : turns_since;
	return 0;
}

static void count_turn(void *data _unused_)
{
	turns_since++;
}

/* What has to be written when a session ends is not written in the turn of its last drain. */
static void the_last_drain_of_a_session_is_a_turn_of_its_own(void)
{
	struct turn turn = { .between = count_turn };
	struct driver_ops ops; /* both are used until the collector is freed */
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = recorded(dir);
	_cleanup_(collector_freep) struct collector *c = open_collector(dir, path, NULL);

	if (!c)
		return;
	drain_in_parts(c, &ops, &turn, 0);
	ops.sync = drain_steadily;
	CHECK_EQ(collector_save(c, "first", NULL), 0);
	CHECK(turns_since > 0);
	CHECK(!c->intake.holds);
	CHECK_EQ(collector_save(c, "first", NULL), -EEXIST);
	CHECK(!c->intake.holds);
	CHECK_EQ(collector_reset(c, NULL), 0);
	CHECK(turns_since > 0);
	CHECK(!c->intake.holds);
}

static bool watches_turns, between_turns;
static int waits_in_turns, waits;

static void begin_wait(void *data _unused_)
{
	between_turns = true;
}

/* The library's, too. While turns are watched, it does not wait, but in other threads. */
int poll(struct pollfd *fds, nfds_t count, int ms)
{
	const struct timespec until = { ms / 1000, ms % 1000 * 1000000L };

	if (!watches_turns || gettid() != getpid())
		return ppoll(fds, count, ms < 0 ? NULL : &until, NULL);
	waits++;
	waits_in_turns += !between_turns;
	between_turns = false;
	return 0;
}

/* What is written meanwhile has turns, which end before the wait between two of them. */
static void no_turn_of_a_dump_waits(void)
{
	enum { DUMPS_MAX = 1000 };
	struct turn turn = { .between = begin_wait };
	struct driver_ops ops; /* both are used until the collector is freed */
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = recorded(dir);
	_cleanup_(collector_freep) struct collector *c = watched = open_collector(dir, path, NULL);
	int i;

	if (!c)
		return;
	drain_in_parts(c, &ops, &turn, 0);
	CHECK_EQ(driver_replay.sync(c->driver, true, NULL), 1); /* announces the images */
	ops.sync = drain_steadily;
	waits = waits_in_turns = 0;
	/* On a busy machine, the thread that writes may be done before it is waited for. */
	for (i = 0; i < DUMPS_MAX && !waits; i++) {
		CHECK_EQ(intake_words(stream, ARRAY_SIZE(stream), &c->intake), 0);
		watches_turns = true;
		CHECK_EQ(collector_dump(c, NULL), 0);
		watches_turns = false;
	}
	CHECK(waits > 0);
	CHECK_EQ(waits_in_turns, 0);
}

static int drains_of_all, drains_of_all_early;

static int drain_a_part_or_all(struct driver *d, bool all, struct error *err)
{
	drains_of_all += all;
	drains_of_all_early += all && drains_left > 0;
	return drain_a_part(d, all, err);
}

/* So the drain of all has nothing to wait for. */
static void what_waits_in_the_driver_is_drained_in_turns_of_a_dump(void)
{
	struct turn turn = { 0 };
	struct driver_ops ops; /* both are used until the collector is freed */
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = recorded(dir);
	_cleanup_(collector_freep) struct collector *c = open_collector(dir, path, NULL);

	if (!c)
		return;
	drain_in_parts(c, &ops, &turn, 3);
	ops.sync = drain_a_part_or_all;
	drains_of_all = drains_of_all_early = 0;
	CHECK_EQ(collector_dump(c, NULL), 0);
	CHECK_EQ(drains_of_all, 1);
	CHECK_EQ(drains_of_all_early, 0);
	drains_left = 3;
	CHECK_EQ(collector_save(c, "first", NULL), 0);
	CHECK_EQ(drains_of_all_early, 0);
}

static int drains_between;

/* A sample each time, as a driver passes it on. */
static int drain_a_sample(struct driver *d _unused_, bool all _unused_, struct error *err _unused_)
{
	drains_between += watched->intake.is_between;
	return intake_words(stream, ARRAY_SIZE(stream), &watched->intake);
}

static void make_files(const char *dir, const char *name, int count)
{
	for (int i = 0; i < count; i++) {
		_cleanup_free_ char *path = xasprintf("%s/session/samples/%s%d", dir, name, i);

		CHECK_EQ(mknod(path, S_IFREG | 0600, 0), 0);
	}
}

/* Fills the session with so many files that it takes a while to remove them, and takes the names
 * that it could have until then. */
static void fill_session(const char *dir)
{
	make_files(dir, "current/", 5000);
	make_files(dir, ".removed.", 1000);
}

/* Where a session cannot be renamed, it takes long to remove if it has many files; what is drained
 * meanwhile is of the next. */
static void samples_are_drained_while_a_session_is_removed(void)
{
	struct turn turn = { 0 };
	struct driver_ops ops; /* both are used until the collector is freed */
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = recorded(dir);
	_cleanup_(collector_freep) struct collector *c = watched = open_collector(dir, path, NULL);

	if (!c)
		return;
	drain_in_parts(c, &ops, &turn, 0);
	CHECK_EQ(driver_replay.sync(c->driver, true, NULL), 1); /* announces the images */
	ops.sync = drain_a_sample;
	fill_session(dir);
	drains_between = 0;
	CHECK_EQ(collector_reset(c, NULL), 0);
	CHECK(drains_between > 0);
	ops.sync = drain_steadily;
	CHECK_EQ(collector_sync(c, true, NULL), 0);
	CHECK(count_at(dir, "current", 0x10) >= 2 * (uint64_t)drains_between);
}

/* It would choose where samples are written. */
static void a_session_directory_of_somebody_else_is_not_taken(void)
{
	enum { OTHER = 54321 };
	struct turn turn = { 0 };
	struct driver_ops ops; /* both are used until the collector is freed */
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = recorded(dir), *session = path_join(dir, "session");
	_cleanup_(collector_freep) struct collector *c = open_collector(dir, path, NULL);
	struct error err = ERROR_INIT;

	if (geteuid() != 0)
		SKIP("not root");
	if (!c)
		return;
	drain_in_parts(c, &ops, &turn, 0);
	CHECK_EQ(path_remove_tree(session, NULL), 0);
	CHECK_EQ(mkdir(session, 0755), 0);
	CHECK_EQ(chown(session, OTHER, OTHER), 0);
	CHECK_EQ(collector_sync(c, false, &err), -EPERM);
	CHECK(strstr(err.text, "belongs to uid 54321"));
	CHECK(!collector_made_again(c));
	CHECK_EQ(path_remove_tree(session, NULL), 0);
	CHECK_EQ(collector_sync(c, false, &err), 0);
	CHECK(collector_made_again(c));
}

TESTS(T(a_replayed_stream_is_recorded_with_its_statistics),
      T(the_last_slice_ends_when_sampling_is_stopped), T(the_session_says_what_was_sampled),
      T(a_second_writer_is_refused), T(a_driver_nobody_knows_is_refused),
      T(reset_empties_the_session), T(save_moves_the_session_once), T(what_is_teed_replays_alike),
      T(statistics_go_on_after_a_change_of_settings), T(those_of_an_extended_feature_go_on_too),
      T(a_drain_goes_on_in_the_next_turns), T(what_fails_between_two_syncs_is_reported),
      T(what_was_drained_before_a_failure_is_written),
      T(the_last_drain_of_a_session_is_a_turn_of_its_own), T(no_turn_of_a_dump_waits),
      T(what_waits_in_the_driver_is_drained_in_turns_of_a_dump),
      T(samples_are_drained_while_a_session_is_removed),
      T(a_session_directory_of_somebody_else_is_not_taken))
