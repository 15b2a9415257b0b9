/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opweb: shows a profile in a browser. */
#include "tools/common/braces.h"
#include "tools/common/confine.h"
#include "tools/common/page_events.h"
#include "tools/common/page_report.h"
#include "tools/common/reporting.h"
#include "tools/common/tool.h"
#include "tools/opweb/web_browser.h"
#include "tools/opweb/web_event.h"
#include "tools/opweb/web_export.h"
#include "tools/opweb/web_files.h"
#include "tools/opweb/web_listen.h"
#include "tools/opweb/web_maker.h"
#include "tools/opweb/web_second.h"
#include "tools/opweb/web_secret.h"
#include "tools/opweb/web_server.h"
#include "tools/opweb/web_source.h"

#include "base/mem.h"
#include "history/window.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where opweb.socket listens. */
#define SERVICE_PORT "7997"

static struct {
	struct report_view view;
	struct profile_config profile;
	const char *listen;
	const char *secret_file;
	int64_t lasts_ms, idle_ms;
	bool address_only;
	bool no_symbol_cache, no_browser;
} options = { .view = { .form = REPORT_DATA, .rows = { .symbols = true } } };

static volatile sig_atomic_t is_over;

static int set_length(const char *arg, void *target, struct error *err)
{
	if (window_duration(arg, target) < 0)
		return error_set(err, -EINVAL,
				 "%s: '%s' is not a length of time; write for example 30m, 1h",
				 target == &options.lasts_ms ? "--for" : "--idle", arg);
	return 0;
}

static const struct opt opts[] = {
	{ 0, "listen", OPT_PATH, &options.listen, "ADDRESS",
	  "PORT, ADDRESS:PORT or a path for a Unix socket (default: any port of 127.0.0.1)" },
	{ 0, "for", OPT_CALL, &options.lasts_ms, "LENGTH", "end after this time, such as 30m",
	  set_length },
	{ 0, "idle", OPT_CALL, &options.idle_ms, "LENGTH",
	  "end when there was no request for this time, such as 10m", set_length },
	{ 0, "secret-file", OPT_PATH, &options.secret_file, "FILE",
	  "keep the secret of the address in FILE; created if it is missing" },
	{ 0, "address", OPT_FLAG, &options.address_only, NULL,
	  "print the address of opweb.service and exit" },
	{ 0, "no-browser", OPT_FLAG, &options.no_browser, NULL,
	  "only print the address; do not open the desktop's browser" },
	{ 0, "inlines", OPT_FLAG, &options.view.rows.inlines, NULL,
	  "inlined functions as functions of their own" },
	REPORTING_DEMANGLE(options.view.names),
	REPORTING_SESSION_DIR(options.profile),
	REPORTING_IMAGE_PATH(options.profile),
	REPORTING_ROOT(options.profile),
	REPORTING_NO_SYMBOL_CACHE(options.no_symbol_cache),
	REPORTING_MAX_SIZE(options.profile),
	CONFINE_OPTION,
	TOOL_VERBOSE_OPTION,
	OPT_END
};

static const struct opt_cmdline cmdline = {
	.tool = "opweb",
	.usage = "[OPTION]... [SPECIFICATION]...\n"
		 "       opweb [OPTION]... { SPECIFICATION... } { SPECIFICATION... }",
	.summary = "Show a profile in a browser: applications over time, flame graphs, functions.",
	.epilog = "A specification narrows the profile, as for opreport. See opweb(1).",
	.opts = opts,
	.acts = true,
};

/* The command line, for the processes that read the profile. */
struct job {
	char *const *words; /* of the specification; ends with NULL */
	char *const *all;
	struct braces sides[2]; /* the two profiles, if there are two */
	bool is_pair;
};

/* --- in the process that makes the data --- */

static size_t count_words(char *const *words)
{
	size_t count = 0;

	while (words[count])
		count++;
	return count;
}

/* Prints the data of the page, of the words; -EINVAL if they may select several events. */
static int print_data(const struct profile_config *config, char *const *list, struct error *err)
{
	_cleanup_(page_report_done) struct page_report page = { 0 };
	_cleanup_(page_event_words_freep) char **others = NULL;
	size_t count = count_words(list);
	_cleanup_free_ char *words = reporting_shell_words(count, list);
	const struct report_option shown[] = {
		{ "specification", count ? words : NULL },
		{ "sessiondir", config->session_dir },
		{ "imagepath", config->binaries.image_paths },
		{ "root", config->binaries.root },
		{ "inlines", options.view.rows.inlines ? "true" : NULL },
		{ "demangle", reporting_demangle(&options.view.names) },
		{ NULL, NULL }
	};
	int r;

	options.view.options = shown;
	r = page_report_collect(config, &options.view, count, list, &page, err);
	if (r == 0 && !options.view.events && !page_report_has_one_event(&page))
		r = -EINVAL;
	if (r < 0)
		return r;
	options.view.other_sessions = others =
		web_second_sessions(page.profile->gather, &options.view.more_sessions);
	profile_report_print(&page.report, stdout);
	options.view.other_sessions = NULL;
	return 0;
}

/* Prints the data of one of several events: the one that has the key, or the usual one. */
static int print_event(const struct profile_config *config, char *const *list, const char *key,
		       struct error *err)
{
	_cleanup_(page_events_done) struct page_events events = { 0 };
	_cleanup_(page_event_words_freep) char **words = NULL;
	int r = page_events_list(config, list, &events, err);

	if (r < 0)
		return r;
	key = key ?: events.keys[events.usual];
	options.view.events = events.keys;
	options.view.event = key;
	words = page_event_words(list, key);
	return print_data(config, words, err);
}

/* Prints the data of the words, of the event that has the key (NULL: the usual one). */
static int print_page_data(const struct profile_config *config, char *const *list, const char *key,
			   struct error *err)
{
	_cleanup_(page_event_words_freep) char **words = page_event_words(list, key);
	int r = key ? -EINVAL : print_data(config, words, err);

	return r == -EINVAL ? print_event(config, list, key, err) : r;
}

/* Prints what is asked for of such a profile: its data, a function, or the files of all
 * functions. */
static int print_part(const struct profile_config *config, char *const *list, const char *key,
		      const char *question, struct error *err)
{
	_cleanup_(page_event_words_freep) char **words = NULL;

	if (!strcmp(question, WEB_DATA_QUESTION))
		return print_page_data(config, list, key, err);
	words = page_event_words(list, key);
	if (!strcmp(question, WEB_FILES_QUESTION))
		return web_files_print(config, options.view.rows.inlines, words, err);
	return web_source_print(config, &options.view.names, words, question, err);
}

/* Answers a question about the profile to compare with. */
static int print_second(const struct profile_config *config, const struct job *job,
			const char *question, const char *key, struct error *err)
{
	_cleanup_free_ char *session = web_second_session(question);
	_cleanup_(page_event_words_freep) char **words = NULL;
	const char *rest = web_second_rest(question);
	struct braces second = job->sides[1]; /* borrows */

	if (session) {
		words = web_second_words(job->words, session, err);
		return words ? print_part(config, words, key, rest, err) : -EINVAL;
	}
	if (!job->is_pair)
		return error_set(err, -ENOENT, "there is no second profile");
	braces_renew(&second, config);
	return print_part(&second.profile, second.words, key, rest, err);
}

static int print(const struct profile_config *config, const struct job *job, const char *question,
		 struct error *err)
{
	_cleanup_free_ char *key = web_event_key(question);
	_cleanup_(page_event_words_freep) char **words = NULL;
	const char *rest = web_event_rest(question);
	int r;

	if (web_second_rest(rest) != rest)
		return print_second(config, job, rest, key, err);
	options.view.apps_only = !strcmp(rest, WEB_APPLICATIONS_QUESTION);
	options.view.has_second = job->is_pair;
	if (options.view.apps_only || !strcmp(rest, WEB_DATA_QUESTION)) {
		r = print_page_data(config, job->words, key, err);
		return options.view.apps_only && r == -ENODATA ? 0 : r; /* no chains: nothing */
	}
	if (strncmp(rest, "export/", 7) != 0)
		return print_part(config, job->words, key, rest, err);
	words = page_event_words(job->words, key);
	return web_export_print(config, &options.view, words, rest, err);
}

/* Prints what is asked for on standard output; returns the exit status, with the reason printed
 * instead. */
static int print_answer(const void *data, const char *question)
{
	const struct job *job = data;
	struct profile_config config = options.profile;
	struct error err = ERROR_INIT;
	int status = 0, r;

	config.symbol_cache = !options.no_symbol_cache; /* which must be writable */
	r = reporting_confine(&config, NULL, job->all, &status, &err);
	if (r > 0)
		return status;
	if (r == 0)
		r = print(&config, job, question, &err);
	if (r == 0)
		r = tool_flush(stdout, NULL, &err);
	if (r < 0) {
		_cleanup_free_ char *text = tool_text(err.text);

		(void)printf("%s\n", text);
		(void)fflush(stdout);
	}
	return r < 0 ? TOOL_FAILURE : 0;
}

/* --- the server --- */

static void end(int number _unused_)
{
	is_over = 1;
}

/* Interrupts system calls, so that the end is noticed. */
static void end_on(int number)
{
	const struct sigaction action = { .sa_handler = end };

	(void)sigaction(number, &action, NULL);
}

/* Where to listen, and what answers need. */
struct service {
	struct web_listen at;
	struct web_policy policy;
	bool is_passed; /* the socket: a browser is connected already */
	int sockets[2]; /* of this process and of the server */
};

/* Answers browsers, in a process of its own, which ends when its parent does. */
static _Noreturn void run_server(struct service *s, pid_t parent)
{
	const struct web_server_config config = { .policy = &s->policy,
						  .socket = s->at.fd,
						  .lasts_ms = options.lasts_ms,
						  .idle_ms = options.idle_ms,
						  .is_early = !s->is_passed,
						  .maker = s->sockets[1] };
	struct error err = ERROR_INIT;

	(void)close(s->sockets[0]);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (getppid() != parent)
		exit(TOOL_FAILURE);
	exit(web_server_run(&config, &is_over, &err) < 0 ? tool_fail(&err) : 0);
}

/* Runs the server, and makes its answers until it ends. Returns its status. */
static int run(struct service *s, const struct job *job)
{
	const struct web_maker how = { print_answer, job };
	pid_t parent = getpid(), server = fork();
	int status = 0;

	if (server == 0)
		run_server(s, parent);
	(void)close(s->sockets[1]);
	if (server > 0)
		web_maker_serve(s->sockets[0], &is_over, &how);
	(void)close(s->sockets[0]);
	if (server > 0)
		(void)kill(server, SIGTERM);
	while (server > 0 && waitpid(server, &status, 0) < 0 && errno == EINTR)
		;
	return server > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : TOOL_FAILURE;
}

/* The address for people; caller frees. */
static char *address_of(const struct service *s)
{
	if (s->policy.is_unix)
		return xasprintf("http://localhost/s/%s/", s->policy.secret);
	return xasprintf("http://%s:%u/s/%s/", s->at.host, s->at.port, s->policy.secret);
}

/* Prints the address that the service has which systemd starts. Returns the exit status. */
static int print_address_of_service(struct error *err)
{
	struct service s = { .at = { .fd = -1 } };
	const char *file = options.secret_file ?: WEB_SECRET_FILE;
	int r = options.listen && strchr(options.listen, '/')
			? error_set(err, -EINVAL, "--listen: a Unix socket has no address")
			: web_secret_load(file, false, s.policy.secret, err);

	if (r == -ENOENT)
		r = error_set(err, r,
			      "%s: no such file; the service makes it when it is started first: "
			      "systemctl start opweb.service",
			      file);
	if (r < 0)
		return tool_fail(err);
	(void)printf("http://%s%s/s/%s/\n",
		     options.listen && strchr(options.listen, ':') ? "" : "127.0.0.1:",
		     options.listen ?: SERVICE_PORT, s.policy.secret);
	return 0;
}

/* Listens, and finds the secret; with *@ret_passed, systemd has opened the socket. */
static int open_service(struct service *s, bool *ret_passed, struct error *err)
{
	int r = web_listen_take(&s->at, err);

	*ret_passed = r > 0;
	if (r > 0 && options.listen)
		return error_set(err, -EINVAL, "--listen: systemd has opened the socket");
	if (r == 0)
		r = web_listen_open(options.listen, &s->at, err);
	if (r < 0)
		return r;
	if (options.secret_file)
		return web_secret_load(options.secret_file, true, s->policy.secret, err);
	if (web_secret_new(s->policy.secret) < 0)
		return error_set(err, -EIO, "cannot get random numbers");
	return 0;
}

static void print_address(const struct service *s, const char *address)
{
	if (s->at.path)
		(void)printf("%s at the socket %s\n", address, s->at.path);
	else
		(void)printf("%s\n", address);
	(void)fflush(stdout);
}

static int serve(const struct job *job, struct error *err)
{
	_cleanup_free_ char *address = NULL;
	struct service s = { .at.fd = -1 };
	bool is_root = geteuid() == 0; /* the owner of the session chooses no browser for root */
	bool is_passed;
	char *redirect = NULL;
	int r = open_service(&s, &is_passed, err), status = 0;

	if (r == 0)
		r = job->is_pair ? braces_become_owner(job->sides, false, err)
				 : reporting_become_owner(&options.profile, false, job->all, err);
	if (r == 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s.sockets) < 0)
		r = error_errno(err, -errno, "cannot start the server");
	if (r == 0) {
		s.policy.is_unix = s.at.is_unix;
		s.is_passed = is_passed;
		s.policy.port = s.at.port;
		address = address_of(&s);
		if (!is_passed) /* else it would be in the journal, which others read */
			print_address(&s, address);
		if (!is_passed && !s.at.path && !options.no_browser && !is_root)
			redirect = web_browser_open(address);
		status = run(&s, job);
		web_browser_close(redirect);
	}
	web_listen_close(&s.at);
	return r < 0 ? tool_fail(err) : status;
}

/* Takes the two profiles of the command line. 0 or -errno. */
static int take_pair(const struct spec_pair *pair, struct job *job, struct error *err)
{
	int r = braces_parse_pair(pair, &options.profile, &cmdline, job->sides, err);

	if (r < 0)
		return r;
	job->is_pair = true;
	options.profile = job->sides[0].profile;
	job->words = job->sides[0].words;
	return 0;
}

int main(int argc, char **argv)
{
	_cleanup_(spec_pair_done) struct spec_pair pair = { 0 };
	struct job job = { .all = argv };
	struct error err = ERROR_INIT, bad_pair = ERROR_INIT;
	int is_pair = spec_split(argv, (size_t)argc, &pair, &bad_pair), operands, status;
	unsigned int i;

	operands = is_pair > 0 ? tool_options(&cmdline, (int)pair.outside_count, pair.outside)
			       : tool_options(&cmdline, argc, argv);
	if (is_pair > 0 && operands < (int)pair.outside_count)
		is_pair = spec_bad_pair(&bad_pair);
	if (is_pair < 0)
		return tool_usage("%s", bad_pair.text);
	if (options.address_only)
		return print_address_of_service(&err);
	for (i = 0; is_pair && i < 2; i++)
		reporting_tag_archives(pair.count[i], argv + (pair.words[i] - argv));
	if (!is_pair)
		reporting_tag_archives((size_t)(argc - operands), argv + operands);
	job.words = argv + operands;
	if (is_pair && take_pair(&pair, &job, &err) < 0)
		return tool_usage("%s", err.text);
	end_on(SIGINT);
	end_on(SIGTERM);
	end_on(SIGHUP);
	(void)signal(SIGPIPE, SIG_IGN);
	status = serve(&job, &err);
	for (i = 0; i < 2; i++)
		braces_done(&job.sides[i]);
	return status;
}
