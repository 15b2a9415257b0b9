/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/log.h"
#include "control/daemonrc.h"
#include "record/record.h"

#include <errno.h>
#include <sys/stat.h>

static int parse(const char *text, struct settings *s, struct error *err)
{
	return daemonrc_parse("rc", text, strlen(text), s, err);
}

static void original_file_is_read(void)
{
	static const char text[] = "CHOSEN_EVENTS_0=CPU_CLK_UNHALTED:100000:0:1:1\n"
				   "CHOSEN_EVENTS_1=INST_RETIRED:200000:0:1:0\n"
				   "NR_CHOSEN=2\n"
				   "SESSION_DIR=/var/tmp/my profile\n"
				   "SEPARATE_LIB=1\n"
				   "SEPARATE_KERNEL=0\n"
				   "SEPARATE_THREAD=1\n"
				   "SEPARATE_CPU=0\n"
				   "CALLGRAPH=6\n"
				   "VMLINUX=none\n"
				   "IMAGE_FILTER=\n"
				   "BUF_SIZE=65536\n"
				   "CPU_BUF_SIZE=0";
	_cleanup_(settings_done) struct settings s = settings_default();
	_cleanup_free_ char *events = NULL, *separate = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(parse(text, &s, &err), 0);
	CHECK_STR(s.session_dir, "/var/tmp/my profile");
	CHECK_STR(s.vmlinux, "none");
	CHECK(!s.image_filter);
	CHECK_EQ(s.callgraph, 6);
	CHECK_EQ(s.buffer_size, 65536);
	events = settings_events(&s);
	CHECK_STR(events, "CPU_CLK_UNHALTED:100000:0:1:1,INST_RETIRED:200000:0:1:0");
	separate = record_separate_text((unsigned int)s.separate);
	CHECK_STR(separate, "library,thread");
}

static void zero_of_an_earlier_version_is_the_default(void)
{
	_cleanup_(settings_done) struct settings s = settings_default();

	CHECK_EQ(parse("RATE=0\n", &s, NULL), 0);
	CHECK_EQ(s.rate, 199);
}

static void bad_lines_are_named(void)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "SEPARATE_LIB=2\n", "rc:1: SEPARATE_LIB: '2' is not 0 or 1" },
		{ "# a comment\n\nBUF_SIZE=many\n",
		  "rc:3: BUF_SIZE: 'many' is not a number from 0 to 16777216" },
		{ "BUF_SIZE=99999999999\n",
		  "rc:1: BUF_SIZE: '99999999999' is not a number from 0 to 16777216" },
		{ "SESSION_DIR\n", "rc:1: not of the form KEY=VALUE" },
		{ "=1\n", "rc:1: not of the form KEY=VALUE" },
		{ "two words=1\n", "rc:1: not of the form KEY=VALUE" },
		{ "VMLINUX=a\tb\n",
		  "rc:1: VMLINUX: the value is too long or has control characters" },
		{ "CHOSEN_EVENTS_=X\n", "rc:1: CHOSEN_EVENTS_: no number after the last '_'" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(settings_done) struct settings rc = settings_default();
		struct error err = ERROR_INIT;

		CHECK_EQ(parse(rows[i].text, &rc, &err), -EINVAL);
		CHECK_STR(err.text, rows[i].message);
		CHECK(!rc.text[SETTING_SESSION_DIR] && !rc.buffer_size);
	}
}

static void nul_bytes_and_endless_lines_are_refused(void)
{
	_cleanup_(settings_done) struct settings rc = settings_default();
	_cleanup_free_ char *long_line = xcalloc(1, 10001);
	struct error err = ERROR_INIT;

	CHECK_EQ(daemonrc_parse("rc", "RATE=1\0\n", 8, &rc, &err), -EINVAL);
	CHECK_STR(err.text, "rc:1: not a text file");
	memset(long_line, 'A', 10000);
	CHECK_EQ(daemonrc_parse("rc", long_line, 10000, &rc, &err), -EINVAL);
	CHECK_STR(err.text, "rc:1: longer than 8192 bytes");
}

static void keep_line(enum log_level level, const char *text, void *data)
{
	CHECK_EQ(level, LOG_LEVEL_WARNING);
	(void)snprintf(data, 200, "%s", text);
}

static void unknown_keys_are_warned_of_and_kept(void)
{
	_cleanup_(settings_done) struct settings rc = settings_default();
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	struct error err = ERROR_INIT;
	char line[200] = "";

	log_to(LOG_LEVEL_WARNING, keep_line, line);
	CHECK_EQ(parse("RATE=99\nXENIMAGE=none\n", &rc, &err), 0);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	CHECK_STR(line, "rc:2: unknown key XENIMAGE is ignored, but kept");
	daemonrc_print(&rc, &out);
	CHECK(strstr(strbuf_text(&out), "\nRATE=99\n"));
	CHECK(strstr(strbuf_text(&out), "\nXENIMAGE=none\n"));
}

static void what_is_printed_reads_back_the_same(void)
{
	_cleanup_(settings_done) struct settings rc = settings_default();
	_cleanup_(settings_done) struct settings back = settings_default();
	_cleanup_(strbuf_done) struct strbuf one = STRBUF_INIT, two = STRBUF_INIT;
	struct error err = ERROR_INIT;

	CHECK_EQ(settings_set_key(&rc, "SESSION_DIR", "/a b=c", &err), 0);
	CHECK_EQ(settings_set_key(&rc, "SEPARATE_CPU", "1", &err), 0);
	CHECK_EQ(settings_set_key(&rc, "BUF_SIZE", "0x1000", &err), 0);
	CHECK_EQ(settings_set_key(&rc, "EXT_FEATURE", "ibs:op:A:1:2", &err), 0);
	CHECK_EQ(settings_add_event(&rc, "TIMER:100", &err), 0);
	daemonrc_print(&rc, &one);
	CHECK_EQ(parse(strbuf_text(&one), &back, &err), 0);
	CHECK_STR(back.session_dir, "/a b=c");
	CHECK_EQ(back.buffer_size, 4096);
	CHECK_EQ(back.events.count, 1);
	daemonrc_print(&back, &two);
	CHECK_STR(strbuf_text(&two), strbuf_text(&one));
}

static void values_that_would_break_the_file_are_refused(void)
{
	_cleanup_(settings_done) struct settings rc = settings_default();
	struct error err = ERROR_INIT;
	int i;

	CHECK_EQ(settings_set_key(&rc, "SESSION_DIR", "/a\nRATE=1", &err), -EINVAL);
	CHECK_EQ(settings_add_event(&rc, "A\nB", &err), -EINVAL);
	CHECK_EQ(settings_add_event(&rc, "", &err), -EINVAL);
	for (i = 0; i < SETTINGS_EVENTS_MAX; i++)
		CHECK_EQ(settings_add_event(&rc, "TIMER", &err), 0);
	CHECK_EQ(settings_add_event(&rc, "TIMER", &err), -EINVAL);
	CHECK_EQ(settings_set_key(&rc, "NO_SUCH_KEY", "1", &err), -ENOENT);
}

static void file_is_private_at_home_and_public_elsewhere(void)
{
	static const struct {
		const char *name;
		mode_t mode;
	} rows[] = { { "home/.oprofile/daemonrc", 0600 }, { "etc/oprofile/daemonrc", 0644 } };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(settings_done) struct settings rc = settings_default();
	struct error err = ERROR_INIT;
	struct stat st;
	size_t i;

	umask(022);
	CHECK_EQ(settings_set_key(&rc, "RATE", "7", &err), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *path = path_join(dir, rows[i].name);
		_cleanup_(settings_done) struct settings back = settings_default();

		CHECK_EQ(daemonrc_read(path, &back, &err), -ENOENT);
		CHECK_EQ(daemonrc_write(path, &rc, &err), 0);
		CHECK_EQ(daemonrc_read(path, &back, &err), 0);
		CHECK_EQ(back.rate, 7);
		CHECK_EQ(stat(path, &st), 0);
		CHECK_EQ(st.st_mode & 0777, rows[i].mode);
	}
}

static void path_is_given_or_of_the_environment(void)
{
	_cleanup_free_ char *given = NULL, *environment = NULL, *standard = NULL;

	setenv("OPROFILE_DAEMONRC", "/env/rc", 1);
	given = daemonrc_path("/given/rc", false);
	environment = daemonrc_path(NULL, true);
	unsetenv("OPROFILE_DAEMONRC");
	standard = daemonrc_path(NULL, false);
	CHECK_STR(given, "/given/rc");
	CHECK_STR(environment, "/env/rc");
	CHECK(strstr(standard, "oprofile/daemonrc"));
}

TESTS(T(original_file_is_read), T(zero_of_an_earlier_version_is_the_default),
      T(bad_lines_are_named), T(nul_bytes_and_endless_lines_are_refused),
      T(unknown_keys_are_warned_of_and_kept), T(what_is_printed_reads_back_the_same),
      T(values_that_would_break_the_file_are_refused),
      T(file_is_private_at_home_and_public_elsewhere), T(path_is_given_or_of_the_environment))
