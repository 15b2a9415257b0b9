/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opweb: shows a profile in a browser. */
#include "tools/common/confine.h"
#include "tools/common/page_report.h"
#include "tools/common/reporting.h"
#include "tools/common/tool.h"
#include "tools/opweb/web_browser.h"
#include "tools/opweb/web_listen.h"
#include "tools/opweb/web_server.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "history/window.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

static struct {
	struct report_view view;
	struct profile_config profile;
	const char *listen;
	int64_t lasts_ms;
	bool no_symbol_cache, no_browser;
} options = { .view = { .form = REPORT_DATA, .rows = { .symbols = true } } };

static volatile sig_atomic_t is_over;

static int set_for(const char *arg, void *target, struct error *err)
{
	if (window_duration(arg, target) < 0)
		return error_set(err, -EINVAL,
				 "--for: '%s' is not a length of time; write for example 30m, 1h",
				 arg);
	return 0;
}

static const struct opt opts[] = {
	{ 0, "listen", OPT_PATH, &options.listen, "ADDRESS",
	  "PORT, ADDRESS:PORT or a path for a Unix socket (default: any port of 127.0.0.1)" },
	{ 0, "for", OPT_CALL, &options.lasts_ms, "LENGTH", "end after this time, such as 30m",
	  set_for },
	{ 0, "no-browser", OPT_FLAG, &options.no_browser, NULL,
	  "only print the address; do not open the desktop's browser" },
	{ 0, "inlines", OPT_FLAG, &options.view.rows.inlines, NULL,
	  "inlined functions as functions of their own" },
	{ 'D', "demangle", OPT_CALL, &options.view.names, "KIND", "none, normal (default) or smart",
	  reporting_set_demangle },
	{ 0, "session-dir", OPT_PATH, &options.profile.session_dir, "DIR",
	  "the session directory (default: ./oprofile_data, else /var/lib/oprofile)" },
	{ 'p', "image-path", OPT_STRING, &options.profile.binaries.image_paths, "DIR,...",
	  "look for images, modules and debug files in these directories too" },
	{ 'R', "root", OPT_STRING, &options.profile.binaries.root, "DIR", "images are below DIR" },
	{ 0, "no-symbol-cache", OPT_FLAG, &options.no_symbol_cache, NULL,
	  "neither use nor fill the cache of symbols" },
	REPORTING_MAX_SIZE(options.profile),
	CONFINE_OPTION,
	{ 'V', "verbose", OPT_CALL, NULL, "[WHAT]", "print what is done, on standard error",
	  reporting_set_verbose },
	OPT_END
};

static const struct opt_cmdline cmdline = {
	.tool = "opweb",
	.usage = "[OPTION]... [SPECIFICATION]...",
	.summary = "Show a profile in a browser: applications over time, flame graphs, functions.",
	.epilog = "A specification narrows the profile, as for opreport. See opweb(1).",
	.opts = opts,
};

/* The command line, for the processes that read the profile. */
struct job {
	char **words; /* of the specification; ends with NULL */
	size_t count;
	char *const *all;
};

/* --- in the process that makes the data --- */

/* Prints the data on standard output; returns the exit status, with the reason printed instead. */
static int print_data(const struct job *job)
{
	_cleanup_(page_report_done) struct page_report page = { 0 };
	_cleanup_free_ char *words = reporting_shell_words(job->count, job->words);
	struct profile_config config = options.profile;
	struct error err = ERROR_INIT;
	int status = 0, r = reporting_confine(&config, NULL, job->all, &status, &err);

	if (r > 0)
		return status;
	const struct report_option shown[] = {
		{ "specification", job->count ? words : NULL },
		{ "sessiondir", config.session_dir },
		{ "imagepath", config.binaries.image_paths },
		{ "root", config.binaries.root },
		{ "inlines", options.view.rows.inlines ? "true" : NULL },
		{ "demangle", reporting_demangle(&options.view.names) },
		{ NULL, NULL }
	};
	options.view.options = shown;
	config.symbol_cache = !options.no_symbol_cache;
	if (r == 0)
		r = page_report_collect(&config, &options.view, job->count, job->words, &page,
					&err);
	if (r < 0) {
		(void)printf("%s\n", err.text);
		(void)fflush(stdout);
		return TOOL_FAILURE;
	}
	profile_report_print(&page.report, stdout);
	return tool_flush(stdout, NULL, &err) < 0 ? TOOL_FAILURE : 0;
}

/* --- in the server --- */

enum { DATA_MAX = 256 << 20, SECONDS_MAX = 120 };

/* Reads all that comes, for a limited time. 0, or -errno with a message in its place. */
static int read_all(int fd, struct strbuf *ret)
{
	struct pollfd from = { .fd = fd, .events = POLLIN };
	char part[65536];
	ssize_t n = 1;

	while (n > 0 && ret->length < DATA_MAX) {
		if (poll(&from, 1, SECONDS_MAX * 1000) <= 0)
			return -ETIMEDOUT;
		n = read(fd, part, sizeof(part));
		if (n > 0)
			strbuf_add(ret, part, (size_t)n);
	}
	return n == 0 ? 0 : n < 0 ? -errno : -EFBIG;
}

/* Replaces what was read by a message, and takes it. */
static int give_message(struct strbuf *text, const char *message, char **ret, size_t *ret_size)
{
	strbuf_clear(text);
	strbuf_adds(text, message);
	*ret_size = text->length;
	*ret = strbuf_take(text);
	return -EIO;
}

/* Makes the data in a process of its own, with limits. */
static int make_data(void *data, char **ret, size_t *ret_size)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	const struct rlimit cpu = { SECONDS_MAX, SECONDS_MAX };
	int ends[2], status = 0, r;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return give_message(&text, "There are too many open files.", ret, ret_size);
	child = fork();
	if (child == 0) {
		(void)dup2(ends[1], STDOUT_FILENO);
		(void)close_range(STDERR_FILENO + 1, ~0U, 0);
		(void)setrlimit(RLIMIT_CPU, &cpu);
		(void)signal(SIGINT, SIG_DFL);
		(void)signal(SIGTERM, SIG_DFL);
		(void)signal(SIGHUP, SIG_DFL);
		_exit(print_data(data));
	}
	(void)close(ends[1]);
	r = child < 0 ? -errno : read_all(ends[0], &text);
	(void)close(ends[0]);
	if (child > 0 && r < 0)
		(void)kill(child, SIGKILL);
	if (child > 0)
		(void)waitpid(child, &status, 0);
	if (r < 0)
		return give_message(&text, strerror(-r), ret, ret_size);
	if (!text.length)
		return give_message(&text, "The process that reads the profile failed.", ret,
				    ret_size);
	*ret_size = text.length;
	*ret = strbuf_take(&text);
	return status ? -EIO : 0;
}

static void end(int number _unused_)
{
	is_over = 1;
}

static int serve(const struct job *job, struct error *err)
{
	_cleanup_(web_listen_close) struct web_listen at = { .fd = -1 };
	struct web_policy policy = { 0 };
	struct web_server_config config = { .policy = &policy,
					    .lasts_ms = options.lasts_ms,
					    .make = make_data,
					    .data = (void *)job };
	_cleanup_free_ char *address = NULL;
	bool is_root = geteuid() == 0; /* the owner of the session chooses no browser for root */
	char *redirect = NULL;
	int r = web_listen_open(options.listen, &at, err);

	if (r == 0 && web_secret_new(policy.secret) < 0)
		r = error_set(err, -EIO, "there are no random numbers");
	if (r == 0)
		r = reporting_become_owner(&options.profile, false, job->all, err);
	if (r < 0)
		return r;
	policy.host = at.path ? NULL : at.host;
	policy.port = at.port;
	address = xasprintf("http://%s:%u/s/%s/", at.path ? "localhost" : at.host, at.port,
			    policy.secret);
	(void)printf("%s\n", address);
	(void)fflush(stdout);
	if (!at.path && !options.no_browser && !is_root)
		redirect = web_browser_open(address);
	config.socket = at.fd;
	r = web_server_run(&config, &is_over, err);
	web_browser_close(redirect);
	return r;
}

int main(int argc, char **argv)
{
	struct job job = { .all = argv };
	struct error err = ERROR_INIT;
	int operands = tool_options(&cmdline, argc, argv);

	job.words = argv + operands;
	job.count = (size_t)(argc - operands);
	(void)signal(SIGINT, end);
	(void)signal(SIGTERM, end);
	(void)signal(SIGHUP, end);
	(void)signal(SIGPIPE, SIG_IGN);
	return serve(&job, &err) < 0 ? tool_fail(&err) : 0;
}
