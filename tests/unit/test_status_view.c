/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "tools/common/status_view.h"

#include <errno.h>

static const char running[] =
	"state running\npid 77\nversion 2.0.0\nuptime_s 93784\n"
	"driver perf: the clock, for the PMU does not open\ncpus_offline 1,3\n"
	"event TIMER:199:0:1:1\nevent A:1:0:1:1\nseparate library\n"
	"session_dir /var/lib/\"o\\p\"\nsession current\nsession monday\ndisk_kib "
	"2048\nsession_samples 5\n"
	"samples_received 1000\nsamples_lost 12\nsamples_per_s 398.0\nbusy_longest_ms 12.4\n"
	"cpu_percent 0.25\n"
	"memory_kib 16384\nresident_kib 12288\nkernel_kib 2048\nopen_files 40\nmapped_kib 100\n"
	"counter sample_received 1000 samples received\n"
	"counter sample_lost_overflow 12 samples lost: the CPU buffers were full\n"
	"counter chains_lost 3 call chains that could not be stored\n"
	"counter lost_in_another_version 4 of what nobody here knows\n"
	"config /etc/oprofile/daemonrc\n";

static const char stretched[] =
	"state running\nsamples_per_s 398.0\ncpu_percent 0.25\nresident_kib 12288\n"
	"budget_percent 0.12345678\ncost_percent 0.487\nstretch 3.50\nstretch_highest 8.25\n"
	"samples_received 7869\nsamples_taken 1241\nsamples_lost 12\nbudget_starting 1\n";

static char *printed(void (*print)(const char *lines, FILE *out), const char *lines)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	print(lines, out);
	(void)fclose(out);
	return text;
}

static void people_see_a_table(void)
{
	_cleanup_free_ char *text = printed(status_view_text, running);

	CHECK_STR(text, "Daemon:        sampling, pid 77, up 1 d 2 h 3 min 4 s\n"
			"Driver:        perf: the clock, for the PMU does not open\n"
			"CPUs:          1,3 offline\n"
			"Events:        TIMER:199:0:1:1, A:1:0:1:1\n"
			"Separate:      library\n"
			"Session:       /var/lib/\"o\\p\" (5 samples in current, 2.0 MiB on disk; "
			"sessions: current, monday)\n"
			"Samples:       1000 taken, 12 lost; 398 per second\n"
			"               12 samples lost: the CPU buffers were full\n"
			"               3 call chains that could not be stored\n"
			"Own cost:      0.25 % of a CPU, 16.0 MiB of memory (2.0 of it in the "
			"kernel), 40 sample files open, busy for at most 12 ms at a time\n"
			"Settings:      /etc/oprofile/daemonrc\n");
}

static void a_budget_is_shown_with_what_it_takes(void)
{
	_cleanup_free_ char *text = printed(status_view_text, stretched);
	_cleanup_free_ char *json = printed(status_view_json, stretched);

	CHECK(strstr(text,
		     "Own cost:      0.49 % of the CPUs' time; the daemon 0.25 % of a CPU, "));
	CHECK(strstr(text, "Budget:        0.12345678 % of each CPU's time, kept by sampling less "
			   "often: each sample counts for 3.5 (at most 8.2); that of the first "
			   "five minutes may "
			   "be spent at the start\n"));
	CHECK(strstr(json, "\"budget_percent\": 0.12345678,\n  \"budget_starting\": 1,\n  "
			   "\"cost_percent\": 0.487,"));
	CHECK(strstr(text, "Samples:       1241 taken, which stand for 7869, 12 lost; 398 "));
	CHECK(strstr(json, "\"stretch\": 3.50,\n  \"stretch_highest\": 8.25,"));
}

static void programs_see_json(void)
{
	_cleanup_free_ char *text = printed(status_view_json, running);

	CHECK_STR(text, "{\n  \"state\": \"running\",\n  \"pid\": 77,\n"
			"  \"version\": \"2.0.0\",\n  \"uptime_s\": 93784,\n"
			"  \"driver\": \"perf: the clock, for the PMU does not open\",\n"
			"  \"cpus_offline\": \"1,3\",\n"
			"  \"events\": [\"TIMER:199:0:1:1\", \"A:1:0:1:1\"],\n"
			"  \"separate\": \"library\",\n"
			"  \"session_dir\": \"/var/lib/\\\"o\\\\p\\\"\",\n"
			"  \"sessions\": [\"current\", \"monday\"],\n  \"session_samples\": 5,\n  "
			"\"disk_kib\": 2048,\n"
			"  \"samples_received\": 1000,\n  \"samples_lost\": 12,\n"
			"  \"samples_per_s\": 398.0,\n  \"busy_longest_ms\": 12.4,\n"
			"  \"cpu_percent\": 0.25,\n"
			"  \"memory_kib\": 16384,\n  \"resident_kib\": 12288,\n"
			"  \"kernel_kib\": 2048,\n  \"open_files\": 40,\n"
			"  \"mapped_kib\": 100,\n  \"config\": \"/etc/oprofile/daemonrc\",\n"
			"  \"counters\": {\"sample_received\": 1000, "
			"\"sample_lost_overflow\": 12, \"chains_lost\": 3, "
			"\"lost_in_another_version\": 4}\n}\n");
}

static void without_daemon_the_settings_are_shown(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(settings_done) struct settings s = settings_default();
	_cleanup_(strbuf_done) struct strbuf lines = STRBUF_INIT;
	_cleanup_free_ char *text = NULL, *expected = NULL;

	CHECK_EQ(settings_add_event(&s, "TIMER:7", NULL), 0);
	CHECK_EQ(settings_set_key(&s, "SEPARATE_CPU", "1", NULL), 0);
	CHECK_EQ(status_view_silent(&s, dir, false, &lines), -ENOENT);
	CHECK_EQ(status_view_session(dir, &lines), -ENOENT);
	text = printed(status_view_text, strbuf_text(&lines));
	expected = xasprintf("Daemon:        not running; start it with opcontrol --start\nEvents: "
			     "       TIMER:7\nSeparate:      library,kernel,cpu\nSession:       %s "
			     "(0 samples in "
			     "current, 0.0 MiB on disk; no session yet)\n",
			     dir);
	CHECK_STR(text, expected);
}

/* Numbers as the daemon writes them; the point is one in each locale. */
static void numbers_are_whole_and_decimal(void)
{
	static const struct {
		const char *uptime, *row;
	} rows[] = {
		{ "5", "up 5 s\n" },   { "65.9", "up 1 min 5 s\n" }, { "soon", "up 0 s\n" },
		{ "5 s", "up 0 s\n" }, { "1e3", "up 0 s\n" },	     { "", "up 0 s\n" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *lines =
			xasprintf("state running\npid 7\nuptime_s %s\n", rows[i].uptime);
		_cleanup_free_ char *text = printed(status_view_text, lines);

		if (!CHECK(strstr(text, rows[i].row)))
			printf("# row %zu: %s\n", i, text);
	}
}

static void many_sessions_are_counted(void)
{
	_cleanup_(strbuf_done) struct strbuf lines = STRBUF_INIT;
	_cleanup_free_ char *text = NULL;
	int i;

	strbuf_adds(&lines, "state absent\nsession_dir /s\nseparate none\ndisk_kib 0\n");
	for (i = 0; i < 20; i++)
		strbuf_addf(&lines, "session s%d\n", i);
	text = printed(status_view_text, strbuf_text(&lines));
	CHECK(strstr(text, "; sessions: s0, s1, s2, s3, s4, s5, s6, s7 and 12 more)\n"));
}

static void a_closed_session_is_not_called_empty(void)
{
	_cleanup_free_ char *text =
		printed(status_view_text, "state hidden\nsession_dir /s\nseparate none\n");

	CHECK(strstr(text, "Session:       /s\n"));
}

TESTS(T(people_see_a_table), T(a_budget_is_shown_with_what_it_takes), T(programs_see_json),
      T(without_daemon_the_settings_are_shown), T(numbers_are_whole_and_decimal),
      T(many_sessions_are_counted), T(a_closed_session_is_not_called_empty))
