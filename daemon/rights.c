/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rights.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "file/procfs.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

enum { THREADS_TRIES = 200 }; /* in 2 s */

/* Returns whether pages may be locked without a capability. */
static bool may_lock_pages(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

/* Returns whether threads may go before others (urgent.h) without a capability. */
static bool may_go_first(void)
{
	struct rlimit priority, niceness;

	return getrlimit(RLIMIT_RTPRIO, &priority) == 0 && priority.rlim_cur > 0 &&
	       getrlimit(RLIMIT_NICE, &niceness) == 0 && niceness.rlim_cur >= 30;
}

/* Returns whether CAP_PERFMON suffices for perf events. Kernels of Debian and others have a level
 * above 2 that requires CAP_SYS_ADMIN. */
static bool perfmon_suffices(void)
{
	uint64_t level;

	return path_read_u64("", "/proc/sys/kernel/perf_event_paranoid", &level) < 0 || level <= 2;
}

/* The capabilities to keep, explained in oprofiled(8). Numbers, because libcap may be too old to
 * know the names. */
static const struct {
	cap_value_t cap;
	const char *name;
	bool bpf, perf;	     /* which drivers need it */
	bool (*spare)(void); /* returns whether it is not needed after all; NULL: always needed */
} needs[] = {
	{ CAP_PERFMON, "perfmon", true, true, NULL },
	{ CAP_SYS_ADMIN, "sys_admin", true, true, perfmon_suffices },
	{ CAP_BPF, "bpf", true, false, NULL },
	{ CAP_SYSLOG, "syslog", true, true, NULL },
	{ CAP_DAC_READ_SEARCH, "dac_read_search", true, true, NULL },
	{ CAP_SYS_PTRACE, "sys_ptrace", true, true, NULL },
	{ CAP_CHECKPOINT_RESTORE, "checkpoint_restore", true, true, NULL },
	{ CAP_IPC_LOCK, "ipc_lock", false, true, may_lock_pages },
	{ CAP_SYS_NICE, "sys_nice", true, true, may_go_first },
};

static bool is_needed(size_t i, const char *driver)
{
	bool by_driver = !driver || (!strcmp(driver, "bpf") ? needs[i].bpf : needs[i].perf);

	return by_driver && !(needs[i].spare && needs[i].spare());
}

static int find_group(const char *name, gid_t *ret, struct error *err)
{
	const struct group *group = getgrnam(name);

	if (!group)
		return error_set(err, -ENOENT, "no group '%s'", name);
	*ret = group->gr_gid;
	return 0;
}

int rights_choose(const char *user, const char *group, struct rights *ret, struct error *err)
{
	bool by_root = geteuid() == 0;
	const struct passwd *entry = user ? getpwnam(user) : NULL;
	struct rights who = { .uid = geteuid(), .gid = getegid(), .by_root = by_root };

	if (user && !entry)
		return error_set(err, -ENOENT, "no user '%s'", user);
	if (!user && by_root)
		entry = getpwnam(RIGHTS_USER);
	if (entry && !by_root && entry->pw_uid != who.uid)
		return error_set(err, -EPERM, "only root can become user '%s'", user);
	if (entry && by_root) {
		who.uid = entry->pw_uid;
		who.gid = entry->pw_gid;
	}
	who.group = who.gid;
	*ret = who;
	return group && *group ? find_group(group, &ret->group, err) : 0;
}

int rights_check(const struct rights *who, const char *user, bool as_root, struct error *err)
{
	if (who->uid != 0 || user || as_root)
		return 0;
	return error_set(err, -EPERM,
			 "there is no user '" RIGHTS_USER
			 "' to switch to; add it ('useradd --system " RIGHTS_USER
			 "'), name another one with --user, or stay root with --as-root");
}

const char *rights_group(const char *user)
{
	const struct passwd *entry = getpwnam(RIGHTS_USER);
	bool chosen = entry && (user ? !strcmp(user, RIGHTS_USER)
				     : geteuid() == 0 || geteuid() == entry->pw_uid);

	return chosen && getgrnam(RIGHTS_USER) ? RIGHTS_USER : NULL;
}

/* Sets the capabilities of this process to @driver's (NULL: any driver's) as far as it has them. */
static int set_capabilities(const char *driver, struct error *err)
{
	cap_t now = cap_get_proc(), set = cap_init();
	size_t i;
	int r = now && set ? 0 : -errno;

	for (i = 0; r == 0 && i < ARRAY_SIZE(needs); i++) {
		cap_flag_value_t has = CAP_CLEAR;

		if (!is_needed(i, driver) ||
		    cap_get_flag(now, needs[i].cap, CAP_PERMITTED, &has) < 0 || has != CAP_SET)
			continue;
		if (cap_set_flag(set, CAP_PERMITTED, 1, &needs[i].cap, CAP_SET) < 0 ||
		    cap_set_flag(set, CAP_EFFECTIVE, 1, &needs[i].cap, CAP_SET) < 0)
			r = -errno;
	}
	if (r == 0 && cap_set_proc(set) < 0)
		r = -errno;
	(void)cap_free(now);
	(void)cap_free(set);
	return r < 0 ? error_errno(err, r, "cannot drop capabilities") : 0;
}

/* Leaves programs that this process might run no capabilities, whatever their files grant. Without
 * the right to drop the bounding set, no_new_privs alone does that. */
static void leave_none_to_others(void)
{
	int cap;

	for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static int become(const struct rights *who, struct error *err)
{
	bool other = who->group != who->gid;

	/* Root of a container may lack the permission, but then has no other groups. */
	if (setgroups(other, &who->group) < 0 && (errno != EPERM || other))
		return error_errno(err, -errno, "cannot set the groups");
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setresgid(who->gid, who->gid, who->gid) < 0 ||
	    setresuid(who->uid, who->uid, who->uid) < 0)
		return error_errno(err, -errno, "cannot become user %u", who->uid);
	(void)prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
	return 0;
}

int rights_enter(const struct rights *who, struct error *err)
{
	const struct rlimit none = { 0, 0 }, all = { RLIM_INFINITY, RLIM_INFINITY };
	/* Real-time priority 1, niceness -10 (urgent.h). */
	const struct rlimit priority = { 1, 1 }, niceness = { 30, 30 };
	int r = 0;

	/* The rings of CPUs that come online later are mapped as its user, who may lock few
	 * pages. */
	(void)setrlimit(RLIMIT_MEMLOCK, &all);
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)setrlimit(RLIMIT_RTPRIO, &priority);
	(void)setrlimit(RLIMIT_NICE, &niceness);
	leave_none_to_others();
	if (who->by_root)
		r = become(who, err);
	if (r == 0)
		r = set_capabilities(NULL, err);
	/* Its memory contains kernel addresses and paths of all users. */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return r;
}

void rights_renounce(void)
{
	cap_t none = cap_init();

	(void)cap_set_proc(none);
	(void)cap_free(none);
}

void rights_renounce_priority(void)
{
	const cap_value_t nice = CAP_SYS_NICE;
	cap_t set = cap_get_proc();

	if (set && cap_set_flag(set, CAP_EFFECTIVE, 1, &nice, CAP_CLEAR) == 0 &&
	    cap_set_flag(set, CAP_PERMITTED, 1, &nice, CAP_CLEAR) == 0)
		(void)cap_set_proc(set);
	(void)cap_free(set);
}

/* The capabilities of a thread. */
struct sets {
	uint64_t inheritable, permitted, effective;
};

struct check {
	struct sets own; /* no thread may have others */
	struct error *err;
	int r;
};

static int read_set(const char *text, const char *key, uint64_t *ret)
{
	const char *at = strstr(text, key);

	if (!at)
		return -EBADMSG;
	at += strlen(key);
	at += strspn(at, " \t");
	return parse_hex(&at, ret);
}

static int read_sets(uint32_t tid, struct sets *ret)
{
	_cleanup_free_ char *path = xasprintf("/proc/self/task/%u/status", tid);
	_cleanup_free_ char *text = NULL;
	ssize_t n = path_read("", path, &text, NULL);
	int r = (int)MIN(n, 0);

	if (r == 0)
		r = read_set(text, "\nCapInh:", &ret->inheritable);
	if (r == 0)
		r = read_set(text, "\nCapPrm:", &ret->permitted);
	return r < 0 ? r : read_set(text, "\nCapEff:", &ret->effective);
}

static void check_thread(uint32_t tid, void *data)
{
	struct check *check = data;
	struct sets sets = { 0 };
	int r = read_sets(tid, &sets);

	if (check->r < 0 || r == -ENOENT || r == -ESRCH) /* a thread that has ended has none */
		return;
	if (r < 0)
		check->r = error_errno(check->err, r, "cannot check the capabilities of thread %u",
				       tid);
	else if ((sets.inheritable & ~check->own.inheritable) |
		 (sets.permitted & ~check->own.permitted) |
		 (sets.effective & ~check->own.effective))
		check->r = error_set(check->err, -EPERM,
				     "thread %u has capabilities that the daemon dropped", tid);
}

/* Checks that no thread has a capability that this one does not have. */
static int check_threads(struct error *err)
{
	struct check check = { .err = err };
	int r = read_sets((uint32_t)gettid(), &check.own);

	if (r == 0)
		r = procfs_tids("", (uint32_t)getpid(), check_thread, &check);
	return r < 0 ? error_errno(err, r, "cannot check the capabilities of threads") : check.r;
}

/* Waits until the check succeeds: threads give up capabilities themselves, when they first run. */
static int wait_for_threads(struct error *err)
{
	const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	int r = check_threads(err), i;

	for (i = 0; r == -EPERM && i < THREADS_TRIES; i++) {
		(void)nanosleep(&pause, NULL);
		r = check_threads(err);
	}
	return r;
}

int rights_keep(const char *driver, struct error *err)
{
	int r = set_capabilities(driver, err);

	/* That was only this thread. */
	return r < 0 ? r : wait_for_threads(err);
}

char *rights_text(void)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	cap_t now = cap_get_proc();
	cap_value_t cap;

	for (cap = 0; now && cap < 64; cap++) {
		cap_flag_value_t has = CAP_CLEAR;
		const char *name = NULL;
		size_t i;

		if (cap_get_flag(now, cap, CAP_PERMITTED, &has) < 0 || has != CAP_SET)
			continue;
		for (i = 0; i < ARRAY_SIZE(needs); i++)
			if (needs[i].cap == cap)
				name = needs[i].name;
		strbuf_addf(&text, "%s%s", text.length ? "," : "", name ?: "others");
	}
	(void)cap_free(now);
	return text.length ? strbuf_take(&text) : xstrdup("none");
}
