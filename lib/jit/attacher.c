/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jit/attacher.h"

#include "base/clock.h"
#include "base/mem.h"
#include "file/account.h"
#include "helper/child.h"
#include "jit/internal/hotspot.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ASK_MS = 5000,	 /* how long a virtual machine may take */
	GRACE_MS = 1000, /* more, after which the child is killed; and until it has ended then */
	STUCK_MAX = 128,
};

/* Whose process it is, and who answers for it. */
struct person {
	uid_t uid, account;
};

/* Children that do not end although they were killed: a file system of their user hangs. */
struct stuck {
	struct {
		pid_t pid;
		uid_t account;
	} children[STUCK_MAX];
	size_t count;
};

struct attacher {
	pid_t pid;
	int socket;
	bool is_busy, has_ended;
	struct attacher_question asked;
};

/* --- in the child --- */

static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &head, none) < 0 ? -errno : 0;
}

/* Becomes the user of the virtual machine for good. */
static int become(const struct hotspot *who)
{
	bool is_other = who->uid != geteuid() || who->gid != getegid();

	if (is_other && (setgroups(0, NULL) < 0 || setresgid(who->gid, who->gid, who->gid) < 0 ||
			 setresuid(who->uid, who->uid, who->uid) < 0))
		return -errno;
	return drop_capabilities();
}

/* Asks the virtual machine of @uid; 0 or -errno. */
static int ask(const struct attacher_question *question, uid_t uid)
{
	struct hotspot_target t = { .inner = question->inner, .root = -1, .pidfd = -1 };
	char path[32];
	int r;

	(void)signal(SIGALRM, SIG_DFL);
	(void)alarm((ASK_MS + GRACE_MS) / 1000);
	/* The descriptors are closed when the child ends. */
	t.pidfd = (int)syscall(SYS_pidfd_open, question->tgid, 0);
	if (t.pidfd < 0)
		return -errno;
	(void)snprintf(path, sizeof(path), "/proc/%u/root", question->tgid);
	t.root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (t.root < 0)
		return -errno;
	r = hotspot_look("", question->tgid, &t.who);
	if (r == 0)
		r = t.who.uid == uid ? become(&t.who) : -EAGAIN;
	return r < 0 ? r : hotspot_ask(&t, clock_now_ms() + ASK_MS);
}

/* --- in the process --- */

/* Forgets the children that have ended after all. */
static void reap(struct stuck *s)
{
	size_t i, kept = 0;

	for (i = 0; i < s->count; i++)
		if (waitpid(s->children[i].pid, NULL, WNOHANG) == 0)
			s->children[kept++] = s->children[i];
	s->count = kept;
}

/* Whether a child for @account hangs, or no more may. */
static bool is_refused(const struct stuck *s, uid_t account)
{
	size_t i = 0;

	while (i < s->count && s->children[i].account != account)
		i++;
	return i < s->count || s->count == STUCK_MAX;
}

/* Waits until the child has ended, and kills it after a while: its user may have stopped it. Ends
 * if nobody waits for its answer any more. Returns whether it has ended. */
static bool has_ended(pid_t pid, int socket)
{
	struct pollfd fds[] = { { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN },
				{ .fd = socket, .events = POLLRDHUP } };
	int n = poll(fds, ARRAY_SIZE(fds), ASK_MS + GRACE_MS);

	if (n <= 0 || fds[1].revents)
		(void)kill(pid, SIGKILL);
	if (fds[1].revents)
		_exit(0);
	if (n <= 0)
		n = poll(fds, 1, GRACE_MS);
	(void)close(fds[0].fd);
	return n > 0;
}

/* Has a child ask; returns its result, or -EHOSTDOWN if it does not end. */
static int ask_in_child(const struct attacher_question *question, const struct person *who,
			int socket, struct stuck *s)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(-ask(question, who->uid));
	if (pid < 0)
		return -errno;
	if (!has_ended(pid, socket)) {
		s->children[s->count].pid = pid;
		s->children[s->count++].account = who->account;
		return -EHOSTDOWN;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ETIME;
}

/* Serves each request in a child. */
static _noreturn_ void serve(int socket)
{
	struct attacher_question question;
	struct stuck stuck = { .count = 0 };

	while (recv(socket, &question, sizeof(question), 0) == sizeof(question)) {
		struct attacher_answer answer = { .tgid = question.tgid,
						  .serial = question.serial };
		struct person who;

		reap(&stuck);
		answer.code = hotspot_owner("", question.tgid, &who.uid);
		if (answer.code == 0) {
			who.account = account_of_process("", question.tgid, who.uid);
			answer.code = is_refused(&stuck, who.account)
					      ? -EBUSY
					      : ask_in_child(&question, &who, socket, &stuck);
		}
		(void)send(socket, &answer, sizeof(answer), MSG_NOSIGNAL);
	}
	_exit(0);
}

/* Keeps only the capabilities to find a process, to become its user and to kill a child that has
 * done so, as far as there are any. */
static void keep_few(void)
{
	static const unsigned int kept[] = { CAP_SETUID, CAP_SETGID, CAP_KILL, CAP_SYS_PTRACE,
					     CAP_DAC_READ_SEARCH };
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct set[2] = { 0 }, few[2] = { 0 };
	const struct rlimit no_core = { 0, 0 };
	size_t i;

	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (syscall(SYS_capget, &head, set) < 0)
		_exit(1);
	for (i = 0; i < ARRAY_SIZE(kept); i++)
		few[kept[i] / 32].permitted |= set[kept[i] / 32].permitted & 1u << kept[i] % 32;
	few[0].effective = few[0].permitted;
	if (syscall(SYS_capset, &head, few) < 0)
		_exit(1);
}

/* --- its user --- */

int attacher_new(struct attacher **ret, struct error *err)
{
	int socket;
	pid_t pid = child_start("oprofile-java", &socket);

	if (pid == 0) {
		keep_few();
		serve(socket);
	}
	if (pid < 0)
		return error_errno(err, pid, "cannot start the process that asks Java");
	*ret = xcalloc(1, sizeof(**ret));
	**ret = (struct attacher){ .pid = pid, .socket = socket };
	return 0;
}

void attacher_free(struct attacher *a)
{
	if (!a)
		return;
	/* Others that were started since may have the socket, too. */
	(void)shutdown(a->socket, SHUT_RDWR);
	(void)close(a->socket);
	child_wait(a->pid);
	free(a);
}

bool attacher_ask(struct attacher *a, const struct attacher_question *question)
{
	if (a->is_busy || a->has_ended)
		return false;
	a->asked = *question;
	a->is_busy = send(a->socket, question, sizeof(*question), MSG_NOSIGNAL | MSG_DONTWAIT) ==
		     sizeof(*question);
	return a->is_busy;
}

bool attacher_take(struct attacher *a, struct attacher_answer *ret)
{
	struct attacher_answer answer;
	ssize_t n = a->is_busy ? recv(a->socket, &answer, sizeof(answer), MSG_DONTWAIT) : -1;

	if (!a->is_busy || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return false;
	a->is_busy = false;
	if (n != sizeof(answer)) {
		a->has_ended = true;
		answer = (struct attacher_answer){ a->asked.tgid, -EPIPE, a->asked.serial };
	}
	*ret = answer;
	return true;
}

bool attacher_is_busy(const struct attacher *a)
{
	return a->is_busy;
}

void attacher_wait(const struct attacher *a, int ms)
{
	struct pollfd p = { .fd = a->socket, .events = POLLIN };

	if (a->is_busy)
		(void)poll(&p, 1, ms);
}

const char *attacher_why(int code)
{
	switch (code) {
	case 0:
		return "it wrote its map";
	case -ENOEXEC:
		return "it does not run HotSpot";
	case -EOPNOTSUPP:
		return "it was started with -Xrs or -XX:+DisableAttachMechanism";
	case -ENOSYS:
		return "it is older than JDK 17, which can write a map; load the agent instead";
	case -EBADMSG:
		return "it refused to write a map";
	case -EEXIST:
		return "its /tmp/perf-PID.map is a link or not its own";
	case -EBUSY:
		return "another process of its user was asked, and hangs";
	case -ETIME:
		return "it did not answer";
	case -EPERM:
	case -EACCES:
		return "this user may not ask it";
	default:
		return strerror(-code);
	}
}
