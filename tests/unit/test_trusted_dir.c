/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/file/trusted_dir.c: who can redirect a path. Most needs root, who alone can give directories
 * to others. */
#include "test.h"

#include "file/trusted_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { USER = 54321, GROUP = 54322, OTHER = 54323 };

static const struct dir_trust user = { .uid = USER, .gid = GROUP };

/* Below a directory for tests: "above/dir" and links to directories. */
struct place {
	char *top, *above, *dir, *link, *elsewhere;
};

static void place_init(struct place *p)
{
	*p = (struct place){ .top = test_directory() };
	p->above = path_join(p->top, "above");
	p->dir = path_join(p->above, "dir");
	p->link = path_join(p->above, "link");
	p->elsewhere = path_join(p->top, "elsewhere");
	CHECK_EQ(mkdir(p->above, 0755), 0);
	CHECK_EQ(mkdir(p->elsewhere, 0755), 0);
}

static void place_done(struct place *p)
{
	if (!p->top)
		return;
	free(p->above);
	free(p->dir);
	free(p->link);
	free(p->elsewhere);
	test_directory_donep(&p->top);
}
#define PLACE(p)                                                                                   \
	_cleanup_(place_done) struct place p = { 0 };                                              \
	if (geteuid() != 0)                                                                        \
		SKIP("not root");                                                                  \
	place_init(&p)

static int try_open(const char *path, const struct dir_trust *who, struct error *err)
{
	int fd = trusted_dir_open(path, 0750, who, err);

	if (fd >= 0)
		(void)close(fd);
	return MIN(fd, 0);
}

static void who_owns_or_may_write_a_parent_counts(void)
{
	static const struct {
		uid_t uid;
		gid_t gid;
		mode_t mode;
		const char *why; /* NULL: accepted */
	} rows[] = {
		{ 0, 0, 0755, NULL },
		{ 0, 0, 01777, NULL }, /* sticky, as /tmp */
		{ 0, 0, 0775, NULL },
		{ 0, OTHER, 01775, NULL },
		{ USER, USER, 0755, NULL },
		{ USER, GROUP, 0775, NULL },
		{ 0, 0, 0777, "can be written by others" },
		{ 0, OTHER, 0775, "can be written by group 54323" },
		{ USER, OTHER, 0775, "can be written by group 54323" },
		{ OTHER, OTHER, 0755, "belongs to uid 54323" },
		{ OTHER, OTHER, 01777, "belongs to uid 54323" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = ERROR_INIT;
		_cleanup_free_ char *why = NULL;
		int r;
		PLACE(p);

		CHECK_EQ(chown(p.above, rows[i].uid, rows[i].gid), 0);
		CHECK_EQ(chmod(p.above, rows[i].mode), 0);
		why = xasprintf("%s: %s", p.above, rows[i].why);
		r = try_open(p.dir, &user, &err);
		if (!CHECK(r == (rows[i].why ? -EPERM : 0)) ||
		    (rows[i].why && !CHECK(strstr(err.text, why))))
			printf("# row %zu: %d, %s\n", i, r, err.text);
		CHECK_EQ(access(p.dir, F_OK), rows[i].why ? -1 : 0);
	}
}

static void the_directory_itself_counts_if_asked(void)
{
	const struct dir_trust last_too = { .last_too = true };
	struct error err = ERROR_INIT;
	PLACE(p);

	CHECK_EQ(chown(p.above, OTHER, OTHER), 0);
	CHECK_EQ(try_open(p.above, &(struct dir_trust){ 0 }, &err), 0);
	CHECK_EQ(try_open(p.above, &last_too, &err), -EPERM);
	CHECK(strstr(err.text, "belongs to uid 54323"));
}

static void links_are_followed_if_their_owner_is_trusted(void)
{
	struct error err = ERROR_INIT;
	struct stat st;
	_cleanup_free_ char *below = NULL, *made = NULL;
	PLACE(p);

	below = path_join(p.link, "new/dir");
	made = path_join(p.elsewhere, "new/dir");
	CHECK_EQ(symlink("../elsewhere", p.link), 0);
	CHECK_EQ(try_open(below, &user, &err), 0);
	CHECK_EQ(stat(made, &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0750);
	CHECK_EQ(unlink(p.link), 0);
	CHECK_EQ(symlink(p.elsewhere, p.link), 0); /* an absolute one */
	CHECK_EQ(try_open(below, &user, &err), 0);
	/* Anybody may make a link in a directory such as /tmp. */
	CHECK_EQ(chmod(p.above, 01777), 0);
	CHECK_EQ(lchown(p.link, OTHER, OTHER), 0);
	CHECK_EQ(try_open(below, &user, &err), -EPERM);
	CHECK(strstr(err.text, "link: belongs to uid 54323"));
	CHECK_EQ(lchown(p.link, USER, OTHER), 0);
	CHECK_EQ(try_open(below, &user, &err), 0);
}

static void what_is_no_directory_is_an_error(void)
{
	struct error err = ERROR_INIT;
	_cleanup_free_ char *below = NULL;
	PLACE(p);

	CHECK_EQ(symlink("link", p.link), 0);
	CHECK_EQ(try_open(p.link, &user, &err), -ELOOP);
	CHECK_EQ(path_write(p.dir, "x", 0644, NULL), 0);
	below = path_join(p.dir, "below");
	CHECK_EQ(try_open(below, &user, &err), -ENOTDIR);
	CHECK(strstr(err.text, p.dir));
}

static void dots_and_slashes_are_allowed(void)
{
	struct error err = ERROR_INIT;
	_cleanup_free_ char *path = NULL;
	PLACE(p);

	path = xasprintf("%s//above/./../elsewhere/", p.top);
	CHECK_EQ(try_open(path, &user, &err), 0);
	CHECK_EQ(try_open("/", &user, &err), 0);
}

static void a_relative_path_needs_the_current_directory(void)
{
	_cleanup_close_ int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct error err = ERROR_INIT;
	PLACE(p);

	CHECK_EQ(chdir(p.elsewhere), 0);
	CHECK_EQ(try_open("here", &user, &err), 0);
	CHECK_EQ(rmdir("here"), 0);
	CHECK_EQ(rmdir(p.elsewhere), 0);
	CHECK_EQ(try_open("oprofile-test-nowhere", &user, &err), -ENOENT);
	CHECK_STR(err.text, "oprofile-test-nowhere: the current directory was removed");
	CHECK_EQ(access("/oprofile-test-nowhere", F_OK), -1);
	CHECK_EQ(fchdir(before), 0);
}

TESTS(T(who_owns_or_may_write_a_parent_counts), T(the_directory_itself_counts_if_asked),
      T(links_are_followed_if_their_owner_is_trusted), T(what_is_no_directory_is_an_error),
      T(dots_and_slashes_are_allowed), T(a_relative_path_needs_the_current_directory))
