/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/common/screen.h"

#include "tools/common/tool.h"

#include "base/parse.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PRECISION_MAX = 4, PRECISION_TERMINAL = 2 };

/* The pager that this process started, which it waits for at its end. A confined child has a copy
 * of this, and leaves that to its parent. */
static struct {
	pid_t pid, parent;
} pager;

int screen_set_colour(const char *arg, void *target, struct error *err)
{
	static const char *const words[] = { [SCREEN_COLOUR_AUTO] = "auto",
					     [SCREEN_COLOUR_ALWAYS] = "always",
					     [SCREEN_COLOUR_NEVER] = "never" };
	struct screen *screen = target;
	size_t i = 0;

	while (i < ARRAY_SIZE(words) && strcmp(arg, words[i]) != 0)
		i++;
	if (i == ARRAY_SIZE(words))
		return error_set(err, -EINVAL, "--color: '%s' is not one of auto, always, never",
				 arg);
	screen->colour_when = i;
	return 0;
}

int screen_set_precision(const char *arg, void *target, struct error *err)
{
	return parse_u64(arg, 1, PRECISION_MAX, target) == 0
		       ? 0
		       : error_set(err, -EINVAL, "--precision: '%s' is not a number from 1 to %d",
				   arg, PRECISION_MAX);
}

/* Waits until the pager has shown everything. Also called by a signal handler. */
static void wait_for_pager(void)
{
	if (pager.pid <= 0 || getpid() != pager.parent)
		return;
	(void)close(STDOUT_FILENO);
	while (waitpid(pager.pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager.pid = 0;
}

static void at_end(void)
{
	if (pager.pid > 0)
		(void)fflush(stdout);
	wait_for_pager();
}

/* The terminal is the pager's until it ends: an interrupt ends this process then. */
static void on_signal(int number)
{
	wait_for_pager();
	(void)raise(number);
}

/* Returns the shell command that shows output; NULL if it is shown as it is. */
static const char *pager_command(void)
{
	static const char usual[] = "command -v less >/dev/null && exec less; exec cat";
	/* Who became root only for this tool chooses no program that root runs. */
	bool is_lent = geteuid() != getuid() || getenv("SUDO_UID") || getenv("DOAS_USER") ||
		       getenv("PKEXEC_UID");
	const char *chosen = is_lent ? NULL : getenv("OPROFILE_PAGER") ?: getenv("PAGER");

	if (is_lent) {
		(void)setenv("LESSSECURE", "1", 1);
		(void)unsetenv("LESSSECURE_ALLOW");
	}
	if (!chosen)
		return usual;
	return *chosen && strcmp(chosen, "cat") != 0 ? chosen : NULL;
}

/* The child: becomes the pager as soon as there is something to show. */
static _Noreturn void run_pager(const char *command, int input)
{
	struct pollfd wait = { .fd = input, .events = POLLIN };

	(void)setenv("LESS", "FRX", 0);
	(void)setenv("LV", "-c", 0);
	(void)signal(SIGINT, SIG_IGN);
	while (poll(&wait, 1, -1) < 0 && errno == EINTR)
		;
	if (!(wait.revents & POLLIN))
		_exit(0);
	(void)signal(SIGINT, SIG_DFL);
	if (dup2(input, STDIN_FILENO) >= 0)
		(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(TOOL_FAILURE);
}

/* Sends standard output through the pager; leaves it as it is if that cannot be started. */
static void start_pager(const char *command)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };
	int pipe_ends[2];
	size_t i;

	if (pipe2(pipe_ends, O_CLOEXEC) < 0)
		return;
	pager.parent = getpid();
	(void)fflush(NULL);
	pager.pid = fork();
	if (pager.pid == 0) {
		(void)close(pipe_ends[1]);
		run_pager(command, pipe_ends[0]);
	}
	(void)close(pipe_ends[0]);
	if (pager.pid > 0 && dup2(pipe_ends[1], STDOUT_FILENO) >= 0) {
		for (i = 0; i < ARRAY_SIZE(ends); i++)
			(void)sigaction(ends[i], &action, NULL);
		(void)atexit(at_end);
	}
	(void)close(pipe_ends[1]);
}

static bool has_no_colour(void)
{
	const char *no_colour = getenv("NO_COLOR");

	return no_colour && *no_colour;
}

void screen_open(struct screen *screen, FILE *out)
{
	int fd = fileno(out);
	bool can_redraw = tool_can_redraw(fd);
	const char *command;

	screen->is_terminal = isatty(fd);
	screen->width = screen->wide ? 0 : tool_terminal_width(fd);
	screen->colour = screen->colour_when == SCREEN_COLOUR_AUTO
				 ? can_redraw && !has_no_colour()
				 : screen->colour_when == SCREEN_COLOUR_ALWAYS;
	screen->decimals = screen->precision	 ? (unsigned int)screen->precision
			   : screen->is_terminal ? PRECISION_TERMINAL
						 : 0;
	if (fd != STDOUT_FILENO || !can_redraw || screen->no_pager)
		return;
	command = pager_command();
	if (command)
		start_pager(command);
}
