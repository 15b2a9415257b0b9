/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/log.h"
#include "control/daemonrc.h"
#include "control/limits.h"

#include <errno.h>
#include <sys/stat.h>

static int parse(const char *text, struct daemonrc *rc, struct error *err)
{
	return daemonrc_parse("rc", text, strlen(text), rc, err);
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
				   "CALLGRAPH_MODE=fp\n"
				   "UNWIND_MEMORY=32M\n"
				   "VMLINUX=none\n"
				   "IMAGE_FILTER=\n"
				   "BUF_SIZE=65536\n"
				   "CPU_BUF_SIZE=0";
	_cleanup_(daemonrc_done) struct daemonrc rc = DAEMONRC_INIT;
	_cleanup_free_ char *events = NULL, *separate = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(parse(text, &rc, &err), 0);
	CHECK_STR(rc.session_dir, "/var/tmp/my profile");
	CHECK_STR(rc.vmlinux, "none");
	CHECK(!rc.image_filter);
	CHECK(rc.separate_lib && !rc.separate_kernel && rc.separate_thread && !rc.separate_cpu);
	CHECK_EQ(rc.callgraph, 6);
	CHECK_STR(rc.callgraph_mode, "fp");
	CHECK_STR(rc.unwind_memory, "32M");
	CHECK_EQ(rc.buffer_size, 65536);
	events = daemonrc_events(&rc);
	CHECK_STR(events, "CPU_CLK_UNHALTED:100000:0:1:1,INST_RETIRED:200000:0:1:0");
	separate = daemonrc_separate(&rc);
	CHECK_STR(separate, "library,thread");
}

/* The share of CPU time for a text, -1 where it is refused. */
static double cpu_share(const char *text)
{
	struct daemonrc rc = { .budget = (char *)text };
	struct limits limits;
	struct error err = ERROR_INIT;

	if (limits_read(&rc, &limits, &err) == 0)
		return limits.cpu;
	CHECK(strstr(err.text, "BUDGET: '") != NULL);
	return -1;
}

static void budgets_are_percentages(void)
{
	static const struct {
		const char *text;
		double share;
	} rows[] = {
		{ NULL, 0.005 }, { "0.5%", 0.005 }, { "0.5", 0.005 }, { "2%", 0.02 },
		{ "100%", 1 },	 { "none", 0 },	    { "0", 0 },	      { "101%", -1 },
		{ "-1%", -1 },	 { "nan", -1 },	    { "inf%", -1 },   { "%", -1 },
		{ "0.5%%", -1 }, { "1e-3x", -1 },   { "half", -1 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (cpu_share(rows[i].text) != rows[i].share) {
			printf("# %s: %g\n", rows[i].text, cpu_share(rows[i].text));
			CHECK(false);
		}
}

static void limits_are_sizes_or_shares(void)
{
	struct daemonrc rc = { .max_memory = (char *)"64M",
			       .max_disk = (char *)"20%",
			       .keep_free = (char *)"none",
			       .max_files = (char *)"128" };
	struct limits limits;
	struct error err = ERROR_INIT;
	static const char *const bad[] = { "1M", "64", "many", "10%", "-1" };
	size_t i;

	CHECK_EQ(limits_read(&rc, &limits, &err), 0);
	CHECK_EQ(limits.memory, 64 << 20);
	CHECK_EQ(limits_bytes(&limits.disk, 5000), 1000);
	CHECK_EQ(limits_bytes(&limits.keep_free, 5000), 0);
	CHECK_EQ(limits.files, 128);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		rc.max_memory = (char *)bad[i];
		CHECK(limits_read(&rc, &limits, &err) < 0);
		CHECK(strstr(err.text, "MAX_MEMORY: '") != NULL);
	}
	rc = (struct daemonrc){ 0 };
	CHECK_EQ(limits_read(&rc, &limits, &err), 0);
	/* A share, but no more than a size. */
	CHECK_EQ(limits_bytes(&limits.disk, 10 * ((uint64_t)1 << 30)), (uint64_t)1 << 30);
	CHECK_EQ(limits_bytes(&limits.disk, 1 << 20), 64 << 20);
	CHECK_EQ(limits_bytes(&limits.disk, (uint64_t)1 << 50), (uint64_t)4 << 30);
	CHECK_EQ(limits_bytes(&limits.keep_free, (uint64_t)1 << 50), (uint64_t)1 << 30);
}

static void bad_lines_are_named(void)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "SEPARATE_LIB=2\n", "rc:1: SEPARATE_LIB: '2' is not 0 or 1" },
		{ "# a comment\n\nBUF_SIZE=many\n",
		  "rc:3: BUF_SIZE: 'many' is not a number in range" },
		{ "BUF_SIZE=99999999999\n",
		  "rc:1: BUF_SIZE: '99999999999' is not a number in range" },
		{ "SESSION_DIR\n", "rc:1: not of the form KEY=VALUE" },
		{ "=1\n", "rc:1: not of the form KEY=VALUE" },
		{ "two words=1\n", "rc:1: not of the form KEY=VALUE" },
		{ "VMLINUX=a\tb\n", "rc:1: not of the form KEY=VALUE" },
		{ "CHOSEN_EVENTS_=X\n", "rc:1: CHOSEN_EVENTS_: no number behind the last '_'" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(daemonrc_done) struct daemonrc rc = DAEMONRC_INIT;
		struct error err = ERROR_INIT;

		CHECK_EQ(parse(rows[i].text, &rc, &err), -EINVAL);
		CHECK_STR(err.text, rows[i].message);
		CHECK(!rc.session_dir && !rc.buffer_size);
	}
}

static void nul_bytes_and_endless_lines_are_refused(void)
{
	_cleanup_(daemonrc_done) struct daemonrc rc = DAEMONRC_INIT;
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
	_cleanup_(daemonrc_done) struct daemonrc rc = DAEMONRC_INIT;
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	struct error err = ERROR_INIT;
	char line[200] = "";

	log_to(LOG_LEVEL_WARNING, keep_line, line);
	CHECK_EQ(parse("RATE=99\nXENIMAGE=none\n", &rc, &err), 0);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	CHECK_STR(line, "rc:2: unknown key XENIMAGE is left alone");
	daemonrc_print(&rc, &out);
	CHECK(strstr(strbuf_text(&out), "\nRATE=99\n"));
	CHECK(strstr(strbuf_text(&out), "\nXENIMAGE=none\n"));
}

static void what_is_printed_reads_back_the_same(void)
{
	_cleanup_(daemonrc_done) struct daemonrc rc = DAEMONRC_INIT, back = DAEMONRC_INIT;
	_cleanup_(strbuf_done) struct strbuf one = STRBUF_INIT, two = STRBUF_INIT;
	struct error err = ERROR_INIT;

	CHECK_EQ(daemonrc_set(&rc, "SESSION_DIR", "/a b=c", &err), 0);
	CHECK_EQ(daemonrc_set(&rc, "SEPARATE_CPU", "1", &err), 0);
	CHECK_EQ(daemonrc_set(&rc, "BUF_SIZE", "0x1000", &err), 0);
	CHECK_EQ(daemonrc_set(&rc, "EXT_FEATURE", "ibs:op:A:1:2", &err), 0);
	CHECK_EQ(daemonrc_add_event(&rc, "TIMER:100", &err), 0);
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
	_cleanup_(daemonrc_done) struct daemonrc rc = DAEMONRC_INIT;
	struct error err = ERROR_INIT;
	int i;

	CHECK_EQ(daemonrc_set(&rc, "SESSION_DIR", "/a\nRATE=1", &err), -EINVAL);
	CHECK_EQ(daemonrc_add_event(&rc, "A\nB", &err), -EINVAL);
	CHECK_EQ(daemonrc_add_event(&rc, "", &err), -EINVAL);
	for (i = 0; i < DAEMONRC_EVENTS_MAX; i++)
		CHECK_EQ(daemonrc_add_event(&rc, "TIMER", &err), 0);
	CHECK_EQ(daemonrc_add_event(&rc, "TIMER", &err), -EINVAL);
	CHECK_EQ(daemonrc_set(&rc, "NO_SUCH_KEY", "1", &err), -ENOENT);
}

static void file_is_private_at_home_and_public_elsewhere(void)
{
	static const struct {
		const char *name;
		mode_t mode;
	} rows[] = { { "home/.oprofile/daemonrc", 0600 }, { "etc/oprofile/daemonrc", 0644 } };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(daemonrc_done) struct daemonrc rc = DAEMONRC_INIT;
	struct error err = ERROR_INIT;
	struct stat st;
	size_t i;

	umask(022);
	CHECK_EQ(daemonrc_set(&rc, "RATE", "7", &err), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *path = path_join(dir, rows[i].name);
		_cleanup_(daemonrc_done) struct daemonrc back = DAEMONRC_INIT;

		CHECK_EQ(daemonrc_read(path, &back, &err), -ENOENT);
		CHECK_EQ(daemonrc_write(path, &rc, &err), 0);
		CHECK_EQ(daemonrc_read(path, &back, &err), 0);
		CHECK_EQ(back.rate, 7);
		CHECK_EQ(stat(path, &st), 0);
		CHECK_EQ(st.st_mode & 0777, rows[i].mode);
	}
}

static void kernel_range_is_two_hexadecimal_numbers(void)
{
	static const struct {
		const char *text;
		int r;
		uint64_t start, end;
	} rows[] = {
		{ "", 0, 0, 0 },
		{ "ffffffff81000000,ffffffff82000000", 0, 0xffffffff81000000, 0xffffffff82000000 },
		{ "0xC0000000,0xc0300000", 0, 0xc0000000, 0xc0300000 },
		{ "0xc0000000", -EINVAL, 0, 0 },
		{ "2,1", -EINVAL, 0, 0 },
		{ "1,2,3", -EINVAL, 0, 0 },
		{ "kernel,text", -EINVAL, 0, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(daemonrc_done) struct daemonrc rc = DAEMONRC_INIT;
		uint64_t start = 0, end = 0;

		CHECK_EQ(daemonrc_set(&rc, "KERNEL_RANGE", rows[i].text, NULL), 0);
		CHECK_EQ(daemonrc_kernel_range(&rc, &start, &end, NULL), rows[i].r);
		CHECK(start == rows[i].start && end == rows[i].end);
	}
}

static void only_its_owner_writes_in_a_session(void)
{
	static const struct {
		const char *text;
		int r;
		mode_t mode;
	} rows[] = {
		{ "", 0, 0750 },       { "755", 0, 0755 },     { "2750", 0, 02750 },
		{ "770", -EINVAL, 0 }, { "757", -EINVAL, 0 },  { "550", -EINVAL, 0 },
		{ "9", -EINVAL, 0 },   { "750x", -EINVAL, 0 }, { "rwx", -EINVAL, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(daemonrc_done) struct daemonrc rc = DAEMONRC_INIT;
		mode_t mode = 0;

		CHECK_EQ(daemonrc_set(&rc, "SESSION_MODE", rows[i].text, NULL), 0);
		CHECK_EQ(daemonrc_mode(&rc, &mode, NULL), rows[i].r);
		CHECK_EQ(mode, rows[i].mode);
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

TESTS(T(original_file_is_read), T(budgets_are_percentages), T(limits_are_sizes_or_shares),
      T(bad_lines_are_named), T(nul_bytes_and_endless_lines_are_refused),
      T(unknown_keys_are_warned_of_and_kept), T(what_is_printed_reads_back_the_same),
      T(values_that_would_break_the_file_are_refused), T(kernel_range_is_two_hexadecimal_numbers),
      T(only_its_owner_writes_in_a_session), T(file_is_private_at_home_and_public_elsewhere),
      T(path_is_given_or_of_the_environment))
