/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/optop/asking.h"

#include "base/mem.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct asking {
	pid_t pid;
	int fd;
	struct strbuf text;
};

/* --- the process --- */

/* The path of the tool @name next to this one; caller frees. */
static char *tool_path(const char *name)
{
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *end;

	if (length <= 0)
		return xstrdup(name);
	self[length] = '\0';
	end = strrchr(self, '/');
	return end ? xasprintf("%.*s/%s", (int)(end - self), self, name) : xstrdup(name);
}

/* Shows @name as a pattern of symbols that only it matches. */
static char *exactly(const char *name)
{
	struct strbuf pattern = STRBUF_INIT;

	for (; *name; name++) {
		/* A comma separates patterns, the others have a meaning in one. */
		if (*name == ',')
			strbuf_adds(&pattern, "\\");
		strbuf_addf(&pattern, "%c", strchr("*?[]\\", *name) ? '?' : *name);
	}
	return strbuf_take(&pattern);
}

/* Becomes the tool that makes the page. Returns -errno. */
static int run_tool(const struct asking_what *what)
{
	static const char *const tools[][3] = {
		[ASKING_CALLS] = { "opreport", "--callgraph", "--demangle=normal" },
		[ASKING_SOURCE] = { "opannotate", "--source", "--demangle=normal" },
		[ASKING_ASSEMBLY] = { "opannotate", "--assembly", "--demangle=normal" },
		[ASKING_HEADER] = { "opreport", "--quality", "--children" },
	};
	_cleanup_free_ char *path = tool_path(tools[what->page][0]);
	_cleanup_free_ char *pattern = exactly(what->name ?: "");
	char *made[2], **words = collect_words(&what->question, made);
	size_t used = 0, i;
	char **argv = xcalloc(what->question.count + 9, sizeof(*argv));

	for (i = 0; i < 3; i++)
		argv[used++] = (char *)tools[what->page][i];
	argv[used++] = xasprintf("--session-dir=%s", what->question.session_dir);
	if (what->page == ASKING_HEADER)
		argv[used++] = xstrdup("--top=20");
	else
		argv[used++] = xasprintf("--include-symbols=%s", pattern);
	for (i = 0; words[i]; i++)
		argv[used++] = words[i];
	(void)execvp(path, argv);
	return -errno;
}

static _Noreturn void run(const struct asking_what *what, int fd)
{
	struct error err = ERROR_INIT;
	int r;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)signal(SIGINT, SIG_IGN);
	/* Messages are part of the answer. */
	(void)dup2(fd, STDOUT_FILENO);
	(void)dup2(fd, STDERR_FILENO);
	r = error_errno(&err, run_tool(what), "cannot start the tool for this page");
	(void)tool_fail(&err);
	(void)fflush(stderr);
	_exit(r < 0);
}

/* --- */

int asking_begin(const struct asking_what *what, struct asking **ret, struct error *err)
{
	struct asking *a;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_errno(err, -errno, "cannot make a pipe");
	(void)fflush(stdout);
	pid = fork();
	if (pid == 0)
		run(what, fds[1]);
	(void)close(fds[1]);
	if (pid < 0) {
		(void)close(fds[0]);
		return error_errno(err, -errno, "cannot start a process that reads the profile");
	}
	a = xcalloc(1, sizeof(*a));
	a->pid = pid;
	a->fd = fds[0];
	(void)fcntl(a->fd, F_SETFL, O_NONBLOCK);
	*ret = a;
	return 0;
}

int asking_fd(const struct asking *a)
{
	return a->fd;
}

bool asking_go_on(struct asking *a)
{
	char buffer[1 << 16];
	ssize_t size;

	while ((size = read(a->fd, buffer, sizeof(buffer))) > 0)
		if (a->text.length < ANSWER_TEXT_MAX)
			strbuf_add(&a->text, buffer, (size_t)size);
	return size == 0 || (errno != EAGAIN && errno != EINTR);
}

void asking_end(struct asking *a, struct answer *ret)
{
	char *line, *rest = a->text.text;

	(void)close(a->fd);
	(void)kill(a->pid, SIGKILL);
	(void)waitpid(a->pid, NULL, 0);
	while (ret && rest && (line = strsep(&rest, "\n")) && (*line || rest))
		answer_add_text(ret, line, strlen(line));
	strbuf_done(&a->text);
	free(a);
}
