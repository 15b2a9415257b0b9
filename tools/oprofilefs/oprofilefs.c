/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oprofilefs: mounts the daemon's nodes as files. One process serves, with no rights except to talk
 * to the daemon; a second one waits for its end, and unmounts however it ended. */
#include "tools/common/tool.h"

#include "base/mem.h"
#include "file/owner.h"
#include "file/path.h"
#include "control/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *session_dir;
static bool foreground;

/* clang-format off */
static const struct opt opts[] = {
	{ 0, "session-dir", OPT_PATH, &session_dir, "DIR",
	  "session directory of the daemon (/var/lib/oprofile)", NULL },
	{ 'F', "foreground", OPT_FLAG, &foreground, NULL, "stay in the foreground", NULL },
	OPT_END
};
/* clang-format on */

static const struct opt_cmdline cmdline = {
	.tool = "oprofilefs",
	.usage = "[OPTION]... DIRECTORY",
	.summary = "Mount the files that control the profiling daemon. Usually started by "
		   "'opcontrol --mount'; 'opcontrol --umount' or umount ends it.",
	.opts = opts,
};

#ifdef HAVE_FUSE

#include "tools/oprofilefs/fuse_tree.h"

#include <sys/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Only files, for all users if possible; the kernel checks permissions. */
#define MOUNT_OPTIONS "fsname=oprofilefs,subtype=oprofilefs,default_permissions,nosuid,nodev,noexec"

/* Whether @path is @where or below it. */
static bool is_hidden_by(const char *path, const char *where)
{
	_cleanup_free_ char *real = xrealpath(path), *top = xrealpath(where);
	size_t length = top ? strlen(top) : 0;

	return real && top && !strncmp(real, top, length) &&
	       (!real[length] || real[length] == '/' || length == 1);
}

/* Unmounts @where, even if it is in use. */
static void unmount(const char *where)
{
	pid_t pid;

	if (umount2(where, MNT_DETACH | UMOUNT_NOFOLLOW) == 0 || errno != EPERM)
		return;
	pid = fork();
	if (pid == 0) {
		(void)execlp("fusermount3", "fusermount3", "-u", "-z", "-q", where, (char *)NULL);
		_exit(127);
	}
	(void)waitpid(pid, NULL, 0);
}

/* A server that was killed leaves a mount without a server. */
static void clear_dead_mount(const char *where)
{
	struct statx st;

	/* Ask the server, not the kernel's cache. */
	if (statx(AT_FDCWD, where, AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &st) < 0 &&
	    errno == ENOTCONN)
		unmount(where);
}

/* Switches to the owner of the session, and drops all other rights. */
static int drop_rights(const char *session, struct error *err)
{
	int r = owner_become(session, OWNER_FOR_GOOD, NULL, err);
	cap_t none = cap_init();

	if (r == 0 && (!none || cap_set_proc(none) < 0))
		r = error_errno(err, -errno, "cannot drop capabilities");
	(void)cap_free(none);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return r;
}

static int open_signals(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Closes the caller's pipes: it may wait for their end. */
static void leave_caller(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		(void)dup2(null, STDIN_FILENO);
		(void)dup2(null, STDOUT_FILENO);
		(void)dup2(null, STDERR_FILENO);
		(void)close(null);
	}
}

/* The serving process. */
static int serve(struct fuse_session *session, struct fuse_tree *tree, struct error *err)
{
	int stop = open_signals(), r;

	r = stop < 0 ? error_errno(err, -errno, "cannot set up signal handling")
		     : drop_rights(tree->session_dir, err);
	if (r == 0 && !foreground)
		leave_caller();
	if (r == 0)
		r = fuse_tree_serve(tree, session, stop);
	return r;
}

static volatile sig_atomic_t server_pid;

static void pass_on(int number)
{
	(void)kill(server_pid, number);
}

/* Waits for the server's end, and unmounts whatever the reason was. */
static int guard(const char *where, struct fuse_session *session)
{
	struct sigaction action = { .sa_handler = pass_on };
	int status = 0;

	(void)sigaction(SIGTERM, &action, NULL);
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGHUP, &action, NULL);
	/* Readers of a dead server would wait as long as anybody has it open. */
	(void)close(fuse_session_fd(session));
	while (waitpid(server_pid, &status, 0) < 0 && errno == EINTR)
		;
	clear_dead_mount(where);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

/* Goes into the background; the caller waits for a byte in *@ret_ready. */
static int enter_background(int *ret_ready, struct error *err)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		return error_errno(err, -errno, "cannot go into the background");
	if (pid > 0) {
		(void)close(ends[1]);
		_exit(read(ends[0], &byte, 1) == 1 ? 0 : 1);
	}
	(void)close(ends[0]);
	(void)setsid();
	*ret_ready = ends[1];
	return 0;
}

static void tell_ready(int ready)
{
	if (ready < 0)
		return;
	leave_caller();
	(void)!write(ready, "", 1);
	(void)close(ready);
}

static int run(const char *session_path, const char *where, struct error *err)
{
	bool root = geteuid() == 0;
	char *argv[] = { (char *)"oprofilefs", (char *)"-o",
			 (char *)(root ? MOUNT_OPTIONS ",allow_other" : MOUNT_OPTIONS), NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);
	struct fuse_session *session;
	struct fuse_tree tree;
	int ready = -1, r = 0;
	pid_t pid;

	clear_dead_mount(where);
	/* The server would wait for itself. */
	if (is_hidden_by(session_path, where))
		return error_set(err, -EINVAL, "%s: mounting here would hide the session in %s",
				 where, session_path);
	if (!foreground)
		r = enter_background(&ready, err);
	if (r < 0)
		return r;
	fuse_tree_init(&tree, session_path);
	session = fuse_session_new(&args, &fuse_tree_ops, sizeof(fuse_tree_ops), &tree);
	if (!session || fuse_session_mount(session, where) < 0)
		return error_set(err, -EIO, "cannot mount on %s%s", where,
				 root ? "" : " (are you root, or is fusermount3 installed?)");
	pid = fork();
	if (pid == 0) {
		if (ready >= 0)
			(void)close(ready);
		r = serve(session, &tree, err);
		fuse_tree_done(&tree);
		_exit(r < 0 ? tool_fail(err) : 0);
	}
	if (pid < 0) {
		fuse_session_unmount(session);
		return error_errno(err, -errno, "cannot fork");
	}
	server_pid = pid;
	tell_ready(ready);
	_exit(guard(where, session));
}

#else

static int run(const char *session_path _unused_, const char *where _unused_, struct error *err)
{
	(void)foreground;
	return error_set(err, -ENOSYS,
			 "cannot mount: built without FUSE; build with libfuse3 "
			 "(Debian's libfuse3-dev), or use the control socket, see oprofilefs(5)");
}

#endif

int main(int argc, char **argv)
{
	int operands = tool_options(&cmdline, argc, argv), r;
	_cleanup_free_ char *session_path = NULL, *where = NULL;
	struct error err = ERROR_INIT;

	if (operands != argc - 1)
		return tool_usage(operands < argc ? "more than one directory given"
						  : "no directory given");
	(void)signal(SIGPIPE, SIG_IGN);
	session_path = path_absolute(session_dir ?: settings_default().session_dir);
	where = path_absolute(argv[operands]);
	tool_tidy();
	r = run(session_path, where, &err);
	return r < 0 ? tool_fail(&err) : 0;
}
