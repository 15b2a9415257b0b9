/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/optop/worker.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "tools/common/tool.h"
#include "tools/optop/collect.h"
#include "tools/optop/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct worker {
	pid_t pid;
	int questions, answers;
	uint64_t asked; /* number of the last question */
	bool has_ended;
	struct strbuf text; /* of the answer that is read */
	size_t parsed;	    /* bytes of it known not to have the end */
};

/* --- in the processes --- */

/* Reads the profile: the lines of standard input are questions. */
static _Noreturn void run_reader(const struct question *q)
{
	struct error err = ERROR_INIT;
	int r = collect_serve(q, stdin, stdout, &err);

	/* A negative status without a text: another process has said what was wrong. */
	if (r < 0 && err.code)
		(void)tool_fail(&err);
	(void)fflush(stderr);
	_exit(r < 0);
}

/* Starts a process that reads the profile. Returns where it takes questions, or -errno. */
static int start_reader(const struct question *q)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		(void)dup2(fds[0], STDIN_FILENO);
		(void)close(fds[0]);
		(void)close(fds[1]);
		run_reader(q);
	}
	(void)close(fds[0]);
	if (pid > 0)
		return fds[1];
	(void)close(fds[1]);
	return -errno;
}

/* Has samples recorded for the questions in the lines of standard input that want it, and passes
 * them on: what reads the profile is confined, and cannot ask the daemon. */
static int pass_questions(const struct feed *feed, int reader, struct error *err)
{
	char line[COLLECT_LINE_MAX];

	while (fgets(line, sizeof(line), stdin)) {
		if (*line == COLLECT_RECORD && feed_update(feed, err) < 0) {
			(void)tool_fail(err);
			*err = ERROR_INIT;
		}
		if (write(reader, line, strlen(line)) < 0)
			return -errno;
	}
	return 0;
}

static _Noreturn void run(const struct feed *feed, const struct question *q, int in, int out)
{
	struct error err = ERROR_INIT;
	int reader, r;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	/* optop has handlers for these. */
	(void)signal(SIGTERM, SIG_DFL);
	(void)signal(SIGHUP, SIG_DFL);
	/* Messages are part of the answer. */
	(void)dup2(in, STDIN_FILENO);
	(void)dup2(out, STDOUT_FILENO);
	(void)dup2(out, STDERR_FILENO);
	reader = start_reader(q);
	r = reader < 0 ? error_errno(&err, reader, "cannot start a process that reads the profile")
		       : pass_questions(feed, reader, &err);
	if (reader >= 0)
		(void)close(reader);
	if (r < 0 && err.code)
		(void)tool_fail(&err);
	(void)wait(NULL);
	_exit(r < 0);
}

/* --- */

int worker_open(const struct feed *feed, const struct question *q, struct worker **ret,
		struct error *err)
{
	int in[2], out[2];
	struct worker *w;
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) < 0)
		return error_errno(err, -errno, "cannot make a pipe");
	if (pipe2(out, O_CLOEXEC) < 0) {
		(void)close(in[0]);
		(void)close(in[1]);
		return error_errno(err, -errno, "cannot make a pipe");
	}
	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		(void)close(in[1]);
		(void)close(out[0]);
		run(feed, q, in[0], out[1]);
	}
	(void)close(in[0]);
	(void)close(out[1]);
	if (pid < 0) {
		(void)close(in[1]);
		(void)close(out[0]);
		return error_errno(err, -errno, "cannot start a process that reads the profile");
	}
	w = xcalloc(1, sizeof(*w));
	*w = (struct worker){ .pid = pid, .questions = in[1], .answers = out[0] };
	(void)fcntl(w->answers, F_SETFL, O_NONBLOCK);
	*ret = w;
	return 0;
}

void worker_close(struct worker *w)
{
	if (!w)
		return;
	(void)close(w->questions);
	(void)close(w->answers);
	(void)kill(w->pid, SIGKILL);
	(void)waitpid(w->pid, NULL, 0);
	strbuf_done(&w->text);
	free(w);
}

int worker_ask(struct worker *w, const struct question *q, enum collect_kind kind,
	       struct error *err)
{
	const struct rowsum_choice *rows = &q->rows;
	_cleanup_free_ char *line =
		xasprintf(COLLECT_QUESTION " %s\n", kind, w->asked + 1, (unsigned int)q->view,
			  q->window_ms, (unsigned int)rows->order, rows->limit, rows->search ?: "");

	w->asked++;
	strbuf_clear(&w->text);
	w->parsed = 0;
	if (w->has_ended || write(w->questions, line, strlen(line)) < 0) {
		w->has_ended = true;
		return error_set(err, -ECONNRESET, "the process that reads the profile has ended");
	}
	return 0;
}

int worker_fd(const struct worker *w)
{
	return w->answers;
}

bool worker_has_ended(const struct worker *w)
{
	return w->has_ended;
}

/* Whether the text has the end of the answer to the last question; those to earlier ones are
 * removed. */
static bool is_complete(struct worker *w)
{
	static const char end[] = "\nend\t";
	const char *text, *at, *newline;
	char *stop;
	uint64_t number;

	for (;;) {
		text = strbuf_text(&w->text);
		at = w->text.length ? strstr(text + w->parsed, end) : NULL;
		newline = at ? strchr(at + 1, '\n') : NULL;
		if (!newline)
			break;
		number = strtoull(at + strlen(end), &stop, 10);
		if (number == w->asked)
			return true;
		w->parsed = 0;
		memmove(w->text.text, newline, w->text.length - (size_t)(newline - text) + 1);
		w->text.length -= (size_t)(newline - text);
	}
	w->parsed = w->text.length > sizeof(end) ? w->text.length - sizeof(end) : 0;
	return false;
}

bool worker_go_on(struct worker *w)
{
	char buffer[1 << 16];
	ssize_t size;

	while ((size = read(w->answers, buffer, sizeof(buffer))) > 0) {
		/* The name of a row could hold no end: it has no newline. */
		if (w->text.length < 2 * ANSWER_TEXT_MAX)
			strbuf_add(&w->text, buffer, (size_t)size);
	}
	w->has_ended = size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
	return is_complete(w) || w->has_ended;
}

void worker_take(struct worker *w, struct answer *ret)
{
	char *line, *rest = w->text.text;

	while (rest && (line = strsep(&rest, "\n")) && (*line || rest))
		if (*line && strncmp(line, "end\t", 4) != 0)
			answer_add_line(ret, line);
	strbuf_clear(&w->text);
	w->parsed = 0;
}

double worker_seconds(const struct worker *w)
{
	clockid_t clock;
	struct timespec used;

	if (clock_getcpuclockid(w->pid, &clock) != 0 || clock_gettime(clock, &used) < 0)
		return 0;
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}
