/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opcontrol/daemon_process.h"

#include "base/mem.h"
#include "file/path.h"
#include "control/client.h"
#include "sfile/session_lock.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { END_WAIT_MS = 20000, END_POLL_MS = 10 };

bool daemon_runs(const char *session_dir)
{
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;

	return control_call(session_dir, "status", &answer, NULL) == 0;
}

char *daemon_find_program(const char *variable, const char *const *places, size_t count)
{
	const char *given = getenv(variable);
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t i;

	if (given && *given)
		return xstrdup(given);
	if (n > 0) {
		self[n] = '\0';
		self[path_base(self) - self] = '\0';
		for (i = 0; i < count; i++) {
			_cleanup_free_ char *path = path_join(self, places[i]);

			if (access(path, X_OK) == 0)
				return STEAL(path);
		}
	}
	return xstrdup(path_base(places[0]));
}

int daemon_spawn(const char *program, char **argv, struct error *err)
{
	int status;
	pid_t pid;

	(void)fflush(stdout);
	pid = fork();
	if (pid < 0)
		return error_errno(err, -errno, "cannot fork");
	if (pid == 0) {
		(void)execvp(program, argv);
		(void)fprintf(stderr, "opcontrol: cannot run %s: %s\n", program, strerror(errno));
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_errno(err, -errno, "cannot wait for %s", program);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return error_set(err, -EIO, "%s failed", path_base(argv[0]));
}

int daemon_start(const char *session_dir, const char *config, struct error *err)
{
	static const char *const places[] = { "oprofiled", "../daemon/oprofiled" };
	_cleanup_free_ char *program = daemon_find_program("OPROFILED", places, ARRAY_SIZE(places));
	_cleanup_free_ char *session_arg = xasprintf("--session-dir=%s", session_dir);
	_cleanup_free_ char *config_arg = config ? xasprintf("--config=%s", config) : NULL;
	char *argv[] = { (char *)"oprofiled", session_arg, config_arg, NULL };

	return daemon_runs(session_dir) ? 0 : daemon_spawn(program, argv, err);
}

int daemon_absent(const char *session_dir, struct error *err)
{
	uint32_t pid = session_lock_holder(session_dir);

	if (pid)
		return error_set(err, -EBUSY,
				 "%s: pid %u is writing to it, but does not answer as a daemon; "
				 "stop it with 'kill %u'",
				 session_dir, pid, pid);
	printf("The daemon is not running for %s.\n", session_dir);
	return 0;
}

int daemon_end(const char *session_dir, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
	uint32_t pid = session_lock_holder(session_dir);
	int r = control_call(session_dir, "shutdown", &answer, err), waited;

	if (r == -ENOENT)
		return daemon_absent(session_dir, err);
	if (r < 0)
		return r;
	for (waited = 0; waited < END_WAIT_MS; waited += END_POLL_MS) {
		/* Without a lock that this user can see there is nothing to wait for. */
		if (!pid || session_lock_holder(session_dir) != pid)
			return 0;
		(void)poll(NULL, 0, END_POLL_MS);
	}
	return error_set(err, -ETIMEDOUT,
			 "the daemon (pid %u) did not exit within 20 s; see its log", pid);
}
