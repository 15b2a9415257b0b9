/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jit/internal/hotspot.h"

#include "base/clock.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "file/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	LOOK_MS = 20,	   /* how often the socket is looked for */
	YOUNG_S = 10,	   /* until it must catch signals */
	ANSWER_MAX = 4096, /* the start says all */
};

/* --- who it is --- */

struct libraries {
	bool hotspot, other; /* OpenJ9 has a libjvm.so, too, but writes a dump after the signal */
};

static int look_at_mapping(const struct maps_line *line, void *data)
{
	struct libraries *found = data;
	const char *name = path_base(line->path);

	found->hotspot |= !strcmp(name, "libjvm.so");
	found->other |= !strncmp(name, "libj9", 5);
	return 0;
}

/* Finds the text after the line's key in /proc/PID/status; "" if there is none. */
static const char *field(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	if (!at)
		return "";
	at += strlen(key);
	return at + strspn(at, "\t ");
}

/* Reads the second number of a line: the effective user or group. */
static int effective(const char *status, const char *key, uint32_t *ret)
{
	const char *at = field(status, key);
	uint64_t id;

	at += strcspn(at, "\t\n");
	at += *at == '\t';
	if (parse_dec(&at, &id) < 0 || id > UINT32_MAX)
		return -EBADMSG;
	*ret = (uint32_t)id;
	return 0;
}

/* Whether @file in /proc/PID has one of the texts, or cannot be read. */
static bool has_text(const char *root, uint32_t tgid, const char *file, const char *const *texts)
{
	_cleanup_free_ char *path = xasprintf("/proc/%u/%s", tgid, file), *words = NULL;
	ssize_t size = path_read(root, path, &words, NULL);
	size_t i;

	for (i = 0; size >= 0 && texts[i]; i++)
		if (memmem(words, (size_t)size, texts[i], strlen(texts[i])))
			return true;
	return size < 0;
}

/* Whether an option forbids to ask, or may be in a file that is not read. */
static bool is_forbidden(const char *root, uint32_t tgid)
{
	static const char *const options[] = { "-XX:+DisableAttachMechanism", "-Xrs",
					       "-XX:+ReduceSignalUsage",      "-XX:Flags=",
					       "-XX:VMOptionsFile=",	      NULL };

	return has_text(root, tgid, "cmdline", options) || has_text(root, tgid, "environ", options);
}

struct threads {
	const char *root;
	bool dispatcher;
};

static void look_at_thread(uint32_t tid, void *data)
{
	struct threads *t = data;
	char comm[16];

	if (procfs_comm(t->root, tid, comm) == 0)
		t->dispatcher |= !strncmp(comm, "Signal Dispatch", sizeof(comm) - 1);
}

/* Whether it has HotSpot's thread for signals. Without it (-Xrs) the program catches them. */
static bool has_dispatcher(const char *root, uint32_t tgid)
{
	struct threads t = { .root = root };

	return procfs_tids(root, tgid, look_at_thread, &t) == 0 && t.dispatcher;
}

/* Whether the process has just been started, so that it may not be ready yet. */
static bool is_young(const char *root, uint32_t tgid)
{
	uint64_t now_s = clock_ns(CLOCK_BOOTTIME) / NS_PER_S;
	struct procfs_stat stat;

	return procfs_stat(root, tgid, &stat) == 0 &&
	       stat.start / (uint64_t)sysconf(_SC_CLK_TCK) + YOUNG_S > now_s;
}

int hotspot_status(const char *status, struct hotspot *ret)
{
	const char *caught = field(status, "\nSigCgt:");
	struct hotspot who = { .tgid = ret->tgid };
	uint64_t signals;

	if (effective(status, "\nUid:", &who.uid) < 0 ||
	    effective(status, "\nGid:", &who.gid) < 0 || parse_hex(&caught, &signals) < 0)
		return -EBADMSG;
	/* It does not catch it yet, or never will (-Xrs). */
	if (!(signals & 1u << (SIGQUIT - 1)))
		return -EOPNOTSUPP;
	*ret = who;
	return 0;
}

int hotspot_owner(const char *root, uint32_t tgid, uid_t *ret)
{
	_cleanup_free_ char *path = xasprintf("/proc/%u/status", tgid), *status = NULL;

	return path_read(root, path, &status, NULL) < 0 ? -ESRCH : effective(status, "\nUid:", ret);
}

int hotspot_look(const char *root, uint32_t tgid, struct hotspot *ret)
{
	_cleanup_free_ char *path = xasprintf("/proc/%u/status", tgid), *status = NULL;
	struct libraries found = { 0 };
	struct hotspot who = { .tgid = tgid };
	int r = procfs_maps(root, tgid, look_at_mapping, &found);

	if (r < 0)
		return r;
	if (!found.hotspot || found.other)
		return -ENOEXEC;
	if (path_read(root, path, &status, NULL) < 0)
		return -ESRCH;
	r = hotspot_status(status, &who);
	if (is_forbidden(root, tgid))
		return -EOPNOTSUPP;
	if (r == 0 && !has_dispatcher(root, tgid))
		r = -EOPNOTSUPP;
	if (r == -EOPNOTSUPP && is_young(root, tgid))
		r = -EAGAIN;
	if (r == 0)
		*ret = who;
	return r;
}

/* --- the question --- */

/* Connects to the socket, if it is there and the process's. Returns a descriptor or -errno. */
static int try_connect(const struct hotspot_target *t)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = -1, found = -1;
	struct ucred peer;
	socklen_t size = sizeof(peer);
	char path[64];

	(void)snprintf(path, sizeof(path), "/tmp/.java_pid%u", t->inner);
	found = open_regular_find(t->root, path);
	if (found < 0)
		return found;
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", found);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return -errno;
	return (uint32_t)peer.pid == t->who.tgid ? STEAL_FD(fd) : -EPERM;
}

/* Waits for the socket. */
static int await_socket(const struct hotspot_target *t, int64_t end_ms)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
	int fd;

	while ((fd = try_connect(t)) == -ENOENT || fd == -ECONNREFUSED) {
		if (clock_now_ms() >= end_ms)
			return -ETIME;
		(void)nanosleep(&pause, NULL);
	}
	return fd;
}

/* Whether HotSpot takes the file for a question; if not, the signal makes it print its stacks. */
static bool is_trigger(const struct hotspot_target *t, int directory, const char *name)
{
	struct stat st;

	return fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_uid == t->who.uid || !st.st_uid);
}

/* Has the virtual machine make its socket; returns a connection to it, or -errno. */
static int wake(const struct hotspot_target *t, int64_t end_ms)
{
	_cleanup_close_ int directory = open_regular_find(t->root, "/tmp"), trigger = -1;
	char name[32];
	int fd;

	if (directory < 0)
		return directory;
	(void)snprintf(name, sizeof(name), ".attach_pid%u", t->inner);
	trigger =
		openat(directory, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	/* Somebody else may be asking, or have left it. */
	if (trigger < 0 && (errno != EEXIST || !is_trigger(t, directory, name)))
		return errno == EEXIST ? -EPERM : -errno;
	if (syscall(SYS_pidfd_send_signal, t->pidfd, SIGQUIT, NULL, 0) < 0)
		fd = -errno;
	else
		fd = await_socket(t, end_ms);
	if (trigger >= 0)
		(void)unlinkat(directory, name, 0);
	return fd;
}

/* Reads the start of the answer, which ends with the connection; returns its size or -errno. */
static ssize_t read_answer(int fd, int64_t end_ms, char answer[ANSWER_MAX])
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t size = 0;
	int64_t left;
	ssize_t n = 1;

	while (size < ANSWER_MAX && n > 0) {
		left = end_ms - clock_now_ms();
		if (left <= 0 || poll(&p, 1, (int)left) == 0)
			return -ETIME;
		n = read(fd, answer + size, ANSWER_MAX - size);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			n = 1;
		else if (n < 0)
			return -errno;
		else
			size += (size_t)n;
	}
	return (ssize_t)size;
}

/* Whether the virtual machine would not write a map of its own: it follows links. Where @name is
 * free, /proc/sys/fs/protected_symlinks stops a link that is put there now. */
static bool is_planted(const struct hotspot_target *t)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	char name[32];

	(void)snprintf(name, sizeof(name), "/tmp/perf-%u.map", t->inner);
	fd = open_regular_find(t->root, name);
	if (fd < 0)
		return fd != -ENOENT;
	return fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != t->who.uid ||
	       st.st_nlink != 1;
}

int hotspot_answer(const char *text, size_t size)
{
	static const char unknown[] = "Unknown diagnostic command";

	if (size >= 2 && !memcmp(text, "0\n", 2))
		return 0;
	return memmem(text, size, unknown, sizeof(unknown) - 1) ? -ENOSYS : -EBADMSG;
}

int hotspot_ask(const struct hotspot_target *t, int64_t end_ms)
{
	/* The version of the protocol, the command, and three arguments. */
	static const char question[] = "1\0jcmd\0Compiler.perfmap\0\0";
	_cleanup_close_ int fd = -1;
	char answer[ANSWER_MAX];
	ssize_t n;

	if (is_planted(t))
		return -EEXIST;
	fd = try_connect(t);
	if (fd == -ENOENT || fd == -ECONNREFUSED)
		fd = wake(t, end_ms);
	if (fd < 0)
		return fd;
	if (send(fd, question, sizeof(question), MSG_NOSIGNAL) != sizeof(question))
		return -errno;
	n = read_answer(fd, end_ms, answer);
	return n < 0 ? (int)n : hotspot_answer(answer, (size_t)n);
}
