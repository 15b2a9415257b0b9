/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/file/owner.c: what root can still do in the directory of another user. Skips unless run as
 * root, who alone has rights to give up. */
#include "test.h"

#include "file/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { USER = 54321, OTHER = 54323 };

/* A session directory, and a file that only root may read or write. */
struct place {
	char *dir, *session, *secret;
};

static void place_init(struct place *p)
{
	p->dir = test_directory();
	p->session = path_join(p->dir, "session");
	p->secret = path_join(p->dir, "secret");
	CHECK_EQ(chmod(p->dir, 0755), 0);
	CHECK_EQ(mkdir(p->session, 0755), 0);
	CHECK_EQ(path_write(p->secret, "x", 0600, NULL), 0);
}

static void place_done(struct place *p)
{
	if (!p->dir)
		return;
	free(p->session);
	free(p->secret);
	test_directory_donep(&p->dir);
}
#define PLACE(p)                                                                                   \
	_cleanup_(place_done) struct place p = { 0 };                                              \
	if (geteuid() != 0)                                                                        \
		SKIP("not root");                                                                  \
	place_init(&p)

static bool opens(const char *path, int flags)
{
	_cleanup_close_ int fd = open(path, flags | O_CLOEXEC, 0600);

	return fd >= 0;
}

/* Runs @check in a child, because it gives up rights; true if all its checks hold. */
static bool holds_in_child(void (*check)(const struct place *p), const struct place *p)
{
	int status = -1;
	pid_t pid;

	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		test_failures = 0;
		check(p);
		(void)fflush(stdout);
		_exit(test_failures != 0);
	}
	return CHECK(waitpid(pid, &status, 0) == pid) && status == 0;
}

static void become_an_owner_who_is_locked_out(const struct place *p)
{
	struct error err = ERROR_INIT;

	CHECK_EQ(owner_become(p->session, OWNER_FOR_GOOD, NULL, &err), -EACCES);
	CHECK(strstr(err.text, "cannot reach it"));
}

static void what_its_owner_cannot_reach_is_not_read(void)
{
	PLACE(p);

	CHECK_EQ(chown(p.session, USER, USER), 0);
	CHECK_EQ(chmod(p.dir, 0700), 0);
	CHECK(holds_in_child(become_an_owner_who_is_locked_out, &p));
}

static void become_nobody_else(const struct place *p)
{
	struct error err = ERROR_INIT;

	CHECK_EQ(owner_become(p->session, OWNER_FOR_GOOD, NULL, &err), 0);
	CHECK_EQ(geteuid(), 0);
	CHECK(opens(p->secret, O_RDWR));
	CHECK_EQ(owner_become("/no/such/directory", OWNER_FOR_GOOD, NULL, &err), 0);
	CHECK_EQ(owner_pause().uid, 0);
}

static void roots_own_sessions_change_nothing(void)
{
	PLACE(p);

	CHECK(holds_in_child(become_nobody_else, &p));
}

static void become_the_owner_for_good(const struct place *p)
{
	struct error err = ERROR_INIT;
	gid_t groups[8];
	int n;

	CHECK_EQ(setgroups(2, (const gid_t[]){ 0, OTHER }), 0);
	CHECK_EQ(setenv("XDG_CACHE_HOME", "/root/.cache", 1), 0);
	CHECK_EQ(owner_become(p->session, OWNER_FOR_GOOD, NULL, &err), 0);
	CHECK_STR(err.text, "");
	CHECK(getuid() == USER && geteuid() == USER && getgid() != 0 && getegid() != 0);
	n = getgroups(ARRAY_SIZE(groups), groups);
	CHECK(n == 1 && groups[0] == getgid());
	CHECK(setuid(0) < 0 && setgid(0) < 0);
	CHECK_EQ(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
	CHECK_EQ(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
	CHECK(!opens(p->secret, O_RDONLY));
	CHECK_EQ(owner_pause().uid, 0);
	CHECK(!opens(p->secret, O_RDONLY));
	CHECK(!getenv("XDG_CACHE_HOME") && !getenv("HOME"));
}

static void nothing_of_root_is_left(void)
{
	PLACE(p);

	CHECK_EQ(chown(p.session, USER, 0), 0);
	CHECK(holds_in_child(become_the_owner_for_good, &p));
}

static void become_the_owner_for_files(const struct place *p)
{
	_cleanup_free_ char *output = path_join(p->dir, "output");
	struct error err = ERROR_INIT;
	struct owner_pause as_root;
	struct stat st;

	CHECK_EQ(owner_become(p->session, OWNER_EXCEPT_OUTPUT, NULL, &err), 0);
	CHECK(!opens(p->secret, O_RDONLY) && !opens(output, O_WRONLY | O_CREAT));
	as_root = owner_pause();
	CHECK(opens(p->secret, O_RDWR));
	CHECK_EQ(path_write(output, "x", 0600, &err), 0);
	CHECK_EQ(stat(output, &st), 0);
	CHECK(st.st_uid == 0 && st.st_gid == 0);
	owner_resume(&as_root);
	CHECK(!opens(p->secret, O_RDONLY) && !opens(output, O_RDONLY));
	/* A second session does not change whose rights these are. */
	CHECK_EQ(owner_become(p->dir, OWNER_EXCEPT_OUTPUT, NULL, &err), 0);
	CHECK_EQ(owner_pause().uid, USER);
	CHECK_EQ(owner_pause().uid, 0);
}

static void output_is_roots(void)
{
	PLACE(p);

	CHECK_EQ(chown(p.session, USER, USER), 0);
	CHECK(holds_in_child(become_the_owner_for_files, &p));
}

static void become_the_owner_of_samples(const struct place *p)
{
	struct error err = ERROR_INIT;

	CHECK_EQ(owner_become(p->session, OWNER_FOR_GOOD, NULL, &err), 0);
	CHECK_EQ(geteuid(), OTHER);
}

static void samples_of_another_are_not_roots(void)
{
	_cleanup_free_ char *samples = NULL;
	PLACE(p);

	samples = path_join(p.session, "samples");
	CHECK_EQ(mkdir(samples, 0755), 0);
	CHECK_EQ(chown(samples, OTHER, OTHER), 0);
	CHECK(holds_in_child(become_the_owner_of_samples, &p));
}

static void become_a_reader(const struct place *p)
{
	struct error err = ERROR_INIT;

	CHECK_EQ(owner_become(p->session, OWNER_FOR_GOOD, "nobody", &err), 0);
	CHECK(geteuid() != 0 && opens(p->secret, O_RDONLY));
	CHECK(!opens(p->secret, O_WRONLY) && setuid(0) < 0);
}

static void become_a_reader_for_files(const struct place *p)
{
	struct error err = ERROR_INIT;
	struct owner_pause as_root;

	CHECK_EQ(owner_become(p->session, OWNER_EXCEPT_OUTPUT, "nobody", &err), 0);
	CHECK(opens(p->secret, O_RDONLY) && !opens(p->secret, O_WRONLY));
	as_root = owner_pause();
	CHECK(opens(p->secret, O_WRONLY));
	owner_resume(&as_root);
	CHECK(opens(p->secret, O_RDONLY) && !opens(p->secret, O_WRONLY));
}

static void a_reader_can_read_but_not_write(void)
{
	const struct passwd *nobody = getpwnam("nobody");
	PLACE(p);

	if (!nobody)
		SKIP("no user 'nobody'");
	CHECK_EQ(chown(p.session, nobody->pw_uid, nobody->pw_gid), 0);
	CHECK(holds_in_child(become_a_reader, &p));
	CHECK(holds_in_child(become_a_reader_for_files, &p));
}

TESTS(T(what_its_owner_cannot_reach_is_not_read), T(roots_own_sessions_change_nothing),
      T(nothing_of_root_is_left), T(output_is_roots), T(samples_of_another_are_not_roots),
      T(a_reader_can_read_but_not_write))
