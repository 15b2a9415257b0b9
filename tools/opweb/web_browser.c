/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_browser.h"

#include "base/mem.h"
#include "tools/opweb/web_request.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writes the file that redirects to the address. Returns its name, or NULL; caller frees. */
static char *write_redirect(const char *address)
{
	const char *directory = getenv("XDG_RUNTIME_DIR");
	char unique[WEB_SECRET_LENGTH + 1];
	char *path;
	int fd, n;

	if (!directory || *directory != '/' || web_secret_new(unique) < 0)
		return NULL;
	path = xasprintf("%s/opweb-%s.html", directory, unique);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		free(path);
		return NULL;
	}
	n = dprintf(fd,
		    "<!doctype html><meta charset=\"utf-8\"><title>OProfile</title>"
		    "<meta http-equiv=\"refresh\" content=\"0;url=%s\">\n",
		    address);
	if (close(fd) < 0 || n < 0) {
		web_browser_close(path);
		return NULL;
	}
	return path;
}

/* In a session of its own, so that a signal of the terminal does not end the browser, and with
 * nothing of this process that a browser would keep open. */
static _Noreturn void run_browser(const char *file)
{
	(void)setsid();
	if (fork() != 0)
		_exit(0);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)dup2(STDERR_FILENO, STDOUT_FILENO);
	(void)close_range(STDERR_FILENO + 1, ~0U, 0);
	(void)execlp("xdg-open", "xdg-open", file, (char *)NULL);
	_exit(0);
}

char *web_browser_open(const char *address)
{
	char *file;
	pid_t child;

	if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
		return NULL;
	file = write_redirect(address);
	if (!file)
		return NULL;
	child = fork();
	if (child == 0)
		run_browser(file);
	if (child > 0)
		(void)waitpid(child, NULL, 0);
	return file;
}

void web_browser_close(char *file)
{
	if (file)
		(void)unlink(file);
	free(file);
}
