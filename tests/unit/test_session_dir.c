/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon/session_dir.c and rights.c: whom the daemon trusts with its directory, and what it may do
 * after it has stepped down. Skips unless run as root, who alone can give files away. */
#include "test.h"

#include "base/mem.h"
#include "file/path.h"
#include "file/system_dir.h"
#include "rights.h"
#include "session_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { USER = 54321, GROUP = 54322, OTHER = 54323 };

static const struct rights daemon_user = { USER, GROUP, GROUP, true };

/* A session directory below directories of which anything can be said. */
struct tree {
	char *top, *parent, *session;
};

static void tree_init(struct tree *t)
{
	*t = (struct tree){ .top = test_directory() };
	t->parent = path_join(t->top, "parent");
	t->session = path_join(t->parent, "session");
	CHECK_EQ(mkdir(t->parent, 0755), 0);
	CHECK_EQ(chmod(t->parent, 0755), 0);
}

static void tree_done(struct tree *t)
{
	free(t->parent);
	free(t->session);
	test_directory_donep(&t->top);
}
#define TREE(t)                                                                                    \
	_cleanup_(tree_done) struct tree t;                                                        \
	tree_init(&t)

static void set_directory(const char *path, uid_t uid, gid_t gid, mode_t mode)
{
	CHECK(mkdir(path, 0700) == 0 || errno == EEXIST);
	CHECK_EQ(chown(path, uid, gid), 0);
	CHECK_EQ(chmod(path, mode), 0);
}

static void put(const char *directory, const char *name, uid_t uid)
{
	_cleanup_free_ char *path = path_join(directory, name);

	CHECK_EQ(path_write(path, "x", 0644, NULL), 0);
	CHECK_EQ(chown(path, uid, uid), 0);
}

static uid_t owner_of(const char *directory, const char *name)
{
	_cleanup_free_ char *path = path_join(directory, name);
	struct stat st = { .st_uid = (uid_t)-1 };

	CHECK_EQ(lstat(path, &st), 0);
	return st.st_uid;
}

/* Why nothing can be given away here, or NULL. */
static const char *unusable(const struct tree *t)
{
	_cleanup_free_ char *at = xstrdup(t->top);
	struct stat st;
	char *slash;

	if (geteuid() != 0)
		return "not root";
	while ((slash = strrchr(at, '/')) && slash > at) {
		*slash = '\0';
		if (stat(at, &st) < 0 || st.st_uid != 0)
			return "the directory for temporary files is not root's";
	}
	return NULL;
}

static void new_directory_is_the_daemons(void)
{
	const struct rights shared = { USER, GROUP, OTHER, true };
	struct error err = ERROR_INIT;
	struct stat st;
	TREE(t);

	if (unusable(&t))
		SKIP(unusable(&t));
	CHECK_EQ(session_dir_prepare(t.session, 0750, &shared, &err), 0);
	CHECK_EQ(stat(t.session, &st), 0);
	CHECK_EQ(st.st_uid, USER);
	CHECK_EQ(st.st_gid, OTHER); /* the group that may read it */
	CHECK_EQ(st.st_mode & 07777, 0750);
	/* Again, as at the next start. */
	CHECK_EQ(session_dir_prepare(t.session, 0700, &shared, &err), 0);
	CHECK_EQ(stat(t.session, &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0700);
}

static void what_only_root_could_write_is_given_away(void)
{
	_cleanup_free_ char *linked = NULL, *elsewhere = NULL, *link = NULL;
	struct error err = ERROR_INIT;
	TREE(t);

	if (unusable(&t))
		SKIP(unusable(&t));
	set_directory(t.session, 0, 0, 0755);
	_cleanup_free_ char *samples = path_join(t.session, "samples");
	_cleanup_free_ char *open = path_join(samples, "open");

	set_directory(samples, 0, 0, 0755);
	set_directory(open, 0, 0, 0777);
	put(t.session, "abi", 0);
	put(samples, "others", OTHER);
	put(samples, "roots", 0);
	put(open, "roots", 0);
	put(t.parent, "elsewhere", 0);
	elsewhere = path_join(t.parent, "elsewhere");
	linked = path_join(samples, "linked");
	link = path_join(samples, "link");
	CHECK_EQ(symlink(elsewhere, link), 0);
	CHECK_EQ(session_dir_prepare(t.session, 0755, &daemon_user, &err), 0);
	CHECK_EQ(owner_of(t.session, "abi"), USER);
	CHECK_EQ(owner_of(samples, "others"), OTHER);
	CHECK_EQ(owner_of(t.session, "samples"), USER);
	CHECK_EQ(owner_of(samples, "roots"), USER);
	CHECK_EQ(owner_of(samples, "open"), USER);
	CHECK_EQ(owner_of(open, "roots"), 0); /* anybody could have linked it there */
	CHECK_EQ(owner_of(samples, "link"), USER);
	CHECK_EQ(owner_of(t.parent, "elsewhere"), 0);
	/* A second name of a file that belongs elsewhere. */
	CHECK_EQ(chown(t.session, 0, 0), 0);
	CHECK_EQ(linkat(AT_FDCWD, elsewhere, AT_FDCWD, linked, 0), 0);
	CHECK_EQ(session_dir_prepare(t.session, 0755, &daemon_user, &err), 0);
	CHECK_EQ(owner_of(samples, "linked"), 0);
}

static void what_is_not_only_a_session_is_kept(void)
{
	struct error err = ERROR_INIT;
	TREE(t);

	if (unusable(&t))
		SKIP(unusable(&t));
	set_directory(t.session, 0, 0, 0755);
	put(t.session, "abi", 0);
	put(t.session, "authorized_keys", 0);
	CHECK_EQ(session_dir_prepare(t.session, 0750, &daemon_user, &err), -EPERM);
	CHECK(strstr(err.text, "it contains 'authorized_keys'"));
	CHECK_EQ(owner_of(t.session, "authorized_keys"), 0);
	CHECK_EQ(owner_of(t.parent, "session"), 0);
}

static void directories_of_the_system_are_kept(void)
{
	static const char *const paths[] = {
		"/",	"/var", "/var/lib",	"/usr/bin",   "/tmp",
		"/etc", "/usr", "/usr/../etc/", "/proc/self", "/home"
	};
	/* Gives nothing away, whatever the function does. */
	const struct rights nobody = { geteuid(), getegid(), getegid(), false };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		struct error err = ERROR_INIT;
		struct stat before, after;

		CHECK_EQ(stat(paths[i], &before), 0);
		CHECK_EQ(session_dir_prepare(paths[i], before.st_mode & 07777, &nobody, &err),
			 -EPERM);
		CHECK(strstr(err.text, "a directory of the system"));
		CHECK_EQ(stat(paths[i], &after), 0);
		CHECK(before.st_uid == after.st_uid && before.st_mode == after.st_mode);
	}
}

/* An empty one below / belongs to whoever made it. */
static void a_directory_below_the_root_may_be_used_if_it_is_empty(void)
{
	char path[] = "/oprofile-test.XXXXXX";
	struct error err = ERROR_INIT;
	_cleanup_free_ char *file = NULL, *abi = NULL;
	int empty, in_use, session;

	if (!mkdtemp(path))
		SKIP("cannot make a directory below /");
	file = path_join(path, "database");
	abi = path_join(path, "abi");
	empty = system_dir_refuse(path, NULL);
	(void)mkdir(file, 0700);
	in_use = system_dir_refuse(path, &err);
	(void)mkdir(abi, 0700);
	session = system_dir_refuse(path, NULL);
	CHECK_EQ(rmdir(abi) | rmdir(file) | rmdir(path), 0);
	CHECK_EQ(empty, 0);
	CHECK_EQ(in_use, -EPERM);
	CHECK(strstr(err.text, "contains other files"));
	CHECK_EQ(session, 0);
}

static void directories_that_others_could_change_are_refused(void)
{
	static const struct {
		uid_t parent, session;
		gid_t parent_group, session_group;
		mode_t parent_mode, session_mode;
		const char *why; /* NULL: accepted */
	} rows[] = {
		{ 0, 0, 0, 0, 0755, 0755, NULL },
		{ 0, USER, 0, GROUP, 0755, 0700, NULL },
		{ USER, USER, GROUP, GROUP, 0755, 0755, "could redirect" },
		{ USER, 0, GROUP, 0, 0755, 0755, "could redirect" },
		{ 0, 0, 0, 0, 01777, 0755, NULL }, /* sticky, as /tmp */
		{ 0, 0, 0, 0, 0775, 0775, NULL },  /* root's group */
		{ 0, 0, OTHER, 0, 01775, 0755, NULL },
		{ 0, 0, 0, 0, 0777, 0755, "could redirect" },
		{ 0, 0, OTHER, 0, 0775, 0755, "could redirect" },
		{ OTHER, 0, 0, 0, 0755, 0755, "could redirect" },
		{ 0, OTHER, 0, 0, 0755, 0755, "belongs to uid" },
		{ 0, 0, 0, 0, 0755, 0757, "can be written by others" },
		{ 0, 0, 0, OTHER, 0755, 0775, "can be written by others" },
		{ 0, USER, 0, OTHER, 0755, 0770, "can be written by others" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = ERROR_INIT;
		int r;
		TREE(t);

		if (unusable(&t))
			SKIP(unusable(&t));
		set_directory(t.parent, rows[i].parent, rows[i].parent_group, rows[i].parent_mode);
		set_directory(t.session, rows[i].session, rows[i].session_group,
			      rows[i].session_mode);
		r = session_dir_prepare(t.session, 0750, &daemon_user, &err);
		if (!CHECK(r == (rows[i].why ? -EPERM : 0)) ||
		    (rows[i].why && !CHECK(strstr(err.text, rows[i].why))))
			printf("# row %zu: %d, %s\n", i, r, err.text);
	}
}

static void links_to_a_directory_count_as_it(void)
{
	struct error err = ERROR_INIT;
	_cleanup_free_ char *link = NULL;
	TREE(t);

	if (unusable(&t))
		SKIP(unusable(&t));
	link = path_join(t.top, "link");
	set_directory(t.session, 0, 0, 0755);
	CHECK_EQ(symlink(t.session, link), 0);
	CHECK_EQ(session_dir_prepare(link, 0750, &daemon_user, &err), 0);
	CHECK_EQ(owner_of(t.parent, "session"), USER);
	set_directory(t.parent, 0, 0, 0777);
	CHECK_EQ(session_dir_prepare(link, 0750, &daemon_user, &err), -EPERM);
}

static void links_of_others_are_not_followed(void)
{
	struct error err = ERROR_INIT;
	_cleanup_free_ char *theirs = NULL, *link = NULL, *below = NULL;
	TREE(t);

	if (unusable(&t))
		SKIP(unusable(&t));
	theirs = path_join(t.top, "theirs");
	link = path_join(theirs, "link");
	below = path_join(link, "new");
	set_directory(theirs, OTHER, OTHER, 0755);
	set_directory(t.session, 0, 0, 0755);
	/* Today it leads to a directory of root. */
	CHECK_EQ(symlink(t.session, link), 0);
	CHECK_EQ(session_dir_prepare(link, 0750, &daemon_user, &err), -EPERM);
	CHECK(strstr(err.text, "theirs: belongs to uid 54323"));
	CHECK_EQ(session_dir_prepare(below, 0750, &daemon_user, &err), -EPERM);
	CHECK_EQ(rmdir(t.session), 0); /* nothing was made in it */
}

static void without_root_only_the_mode_is_set(void)
{
	const struct rights mine = { geteuid(), getegid(), getegid(), false };
	struct error err = ERROR_INIT;
	struct stat st;
	TREE(t);

	CHECK_EQ(chmod(t.parent, 0777), 0);
	CHECK_EQ(session_dir_prepare(t.session, 0710, &mine, &err), 0);
	CHECK_EQ(stat(t.session, &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0710);
	CHECK_EQ(st.st_uid, geteuid());
}

static void users_and_groups_are_looked_up(void)
{
	struct error err = ERROR_INIT;
	struct rights who;

	CHECK_EQ(rights_choose("no-such-user", NULL, &who, &err), -ENOENT);
	CHECK_STR(err.text, "no user 'no-such-user'");
	CHECK_EQ(rights_choose("root", "no-such-group", &who, &err), -ENOENT);
	CHECK_STR(err.text, "no group 'no-such-group'");
	CHECK_EQ(rights_choose("root", "", &who, &err), 0);
	CHECK(who.uid == 0 && who.gid == 0 && who.group == 0);
	CHECK(!rights_group("root"));
	if (geteuid() != 0)
		CHECK_EQ(rights_choose("root", NULL, &who, &err), -EPERM);
}

/* Steps down in a child; 0 if each promise of rights.h is kept, else the number of the first that
 * is not. */
static int step_down(void)
{
	struct error err = ERROR_INIT;
	_cleanup_free_ char *any = NULL, *perf = NULL, *bpf = NULL;

	if (setgroups(2, (const gid_t[]){ 0, OTHER }) < 0)
		return 1;
	if (rights_enter(&daemon_user, &err) < 0)
		return 1;
	any = rights_text();
	if (geteuid() != USER || getuid() != USER || getegid() != GROUP || getgroups(0, NULL) != 0)
		return 2;
	if (setuid(0) == 0 || setgid(0) == 0)
		return 3;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 || prctl(PR_GET_DUMPABLE) != 0)
		return 4;
	if (strstr(any, "others") || prctl(PR_CAPBSET_READ, 0, 0, 0, 0) == 1)
		return 5;
	if (rights_keep("bpf", &err) < 0 || !(bpf = rights_text()) || strstr(bpf, "ipc_lock"))
		return 6;
	if (rights_keep("perf", &err) < 0 || !(perf = rights_text()) || strstr(perf, "bpf"))
		return 7;
	/* What was dropped does not come back. */
	if (rights_keep("bpf", &err) < 0)
		return 8;
	free(bpf);
	bpf = rights_text();
	return strstr(bpf, "bpf") ? 9 : 0;
}

static void rights_are_given_up_for_good(void)
{
	int status = -1;
	pid_t child;

	if (geteuid() != 0)
		SKIP("not root");
	child = fork();
	if (child == 0)
		_exit(step_down());
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
}

static void *wait_for_end(void *data)
{
	char byte;

	(void)!read(*(int *)data, &byte, 1);
	return NULL;
}

/* Steps down while another thread keeps what it has; the exit status is the first step that went
 * wrong. */
static int step_down_alone(void)
{
	struct error err = ERROR_INIT;
	pthread_t other;
	int ends[2];

	if (rights_enter(&daemon_user, &err) < 0 || pipe(ends) < 0)
		return 1;
	if (pthread_create(&other, NULL, wait_for_end, &ends[0]))
		return 2;
	if (rights_keep("perf", &err) != -EPERM || !strstr(err.text, "has capabilities"))
		return 3;
	(void)close(ends[1]);
	(void)pthread_join(other, NULL);
	return rights_keep("perf", &err) < 0 ? 4 : 0;
}

static void no_thread_may_keep_what_was_dropped(void)
{
	int status = -1;
	pid_t child;

	if (geteuid() != 0)
		SKIP("needs root");
	child = fork();
	if (child == 0)
		_exit(step_down_alone());
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(WEXITSTATUS(status), 0);
}

TESTS(T(new_directory_is_the_daemons), T(what_only_root_could_write_is_given_away),
      T(what_is_not_only_a_session_is_kept), T(directories_of_the_system_are_kept),
      T(a_directory_below_the_root_may_be_used_if_it_is_empty),
      T(directories_that_others_could_change_are_refused), T(links_to_a_directory_count_as_it),
      T(links_of_others_are_not_followed), T(without_root_only_the_mode_is_set),
      T(users_and_groups_are_looked_up), T(rights_are_given_up_for_good),
      T(no_thread_may_keep_what_was_dropped))
