/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/file/dirtree.c: directory trees that somebody else may change meanwhile. */
#include "test.h"

#include "base/strbuf.h"
#include "file/dirtree.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* A directory with a tree to work on, and files of somebody else. */
struct place {
	char *dir;
	int fd;
};

static void put(const struct place *p, const char *name)
{
	_cleanup_free_ char *path = path_join(p->dir, name);

	CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
	CHECK_EQ(path_write(path, "x", 0644, NULL), 0);
}

static void place_init(struct place *p)
{
	p->dir = test_directory();
	p->fd = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(p->fd >= 0);
	put(p, "victim/precious");
}

static void place_done(struct place *p)
{
	(void)close(p->fd);
	test_directory_donep(&p->dir);
}
#define PLACE(p)                                                                                   \
	_cleanup_(place_done) struct place p;                                                      \
	place_init(&p)

static bool is_there(const struct place *p, const char *name)
{
	return faccessat(p->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int list(const struct dirtree_visit *v, void *data)
{
	struct stat st;

	CHECK_EQ(fstatat(v->directory, v->name, &st, AT_SYMLINK_NOFOLLOW), 0);
	CHECK_EQ(st.st_ino, v->st.st_ino);
	CHECK_EQ(v->error, 0);
	strbuf_addf(data, "%s ", v->path);
	return 0;
}

static void a_walk_visits_directories_after_their_contents(void)
{
	_cleanup_(strbuf_done) struct strbuf seen = STRBUF_INIT;
	struct error err = ERROR_INIT;
	PLACE(p);

	put(&p, "t/a/b/c");
	CHECK_EQ(symlinkat("../victim", p.fd, "t/a/b/link"), 0);
	CHECK_EQ(dirtree_walk(p.fd, "t/a", list, &seen, &err), 0);
	CHECK(!strcmp(strbuf_text(&seen), "t/a/b/c t/a/b/link t/a/b t/a ") ||
	      !strcmp(strbuf_text(&seen), "t/a/b/link t/a/b/c t/a/b t/a "));
	strbuf_clear(&seen);
	CHECK_EQ(dirtree_walk(p.fd, "victim/precious", list, &seen, &err), 0);
	CHECK_STR(strbuf_text(&seen), "victim/precious ");
	CHECK_EQ(dirtree_walk(p.fd, "nothing", list, &seen, &err), -ENOENT);
	CHECK(strstr(err.text, "nothing"));
}

static void links_are_removed_not_followed(void)
{
	struct error err = ERROR_INIT;
	PLACE(p);

	put(&p, "t/a");
	CHECK_EQ(symlinkat("../victim", p.fd, "t/link"), 0);
	CHECK_EQ(dirtree_remove(p.fd, "t", &err), 0);
	CHECK(!is_there(&p, "t"));
	CHECK_EQ(symlinkat("victim", p.fd, "t"), 0);
	CHECK_EQ(dirtree_remove(p.fd, "t", &err), 0);
	CHECK(!is_there(&p, "t") && is_there(&p, "victim/precious"));
	CHECK_EQ(dirtree_remove(p.fd, "t", &err), 0);
}

/* What an attacker does while the walk is in t/a: that is moved to @to, and replaced by a link. */
struct attack {
	const struct place *place;
	const char *to;
	bool done;
};

static int attack_and_remove(const struct dirtree_visit *v, void *data)
{
	struct attack *a = data;

	if (!a->done) {
		CHECK_EQ(renameat(a->place->fd, "t/a", a->place->fd, a->to), 0);
		CHECK_EQ(symlinkat("../victim", a->place->fd, "t/a"), 0);
		a->done = true;
	}
	return unlinkat(v->directory, v->name, S_ISDIR(v->st.st_mode) ? AT_REMOVEDIR : 0) < 0
		       ? -errno
		       : 0;
}

static void a_directory_swapped_for_a_link_leads_nowhere(void)
{
	static const struct {
		const char *to;
		int r;
	} rows[] = {
		{ "t/moved", -ENOTDIR }, /* at its old name there is a link now */
		{ "elsewhere", -ESTALE },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = ERROR_INIT;
		PLACE(p);
		struct attack a = { .place = &p, .to = rows[i].to };

		put(&p, "t/a/precious");
		put(&p, "t/a/b/precious");
		CHECK_EQ(dirtree_walk(p.fd, "t", attack_and_remove, &a, &err), rows[i].r);
		CHECK(a.done && is_there(&p, "victim/precious"));
	}
}

/* Makes directories one below the other, deeper than any path may be long. */
static void make_deep(const struct place *p, const char *name, unsigned int depth)
{
	int fd = dup(p->fd), below;

	for (; depth; depth--) {
		CHECK_EQ(mkdirat(fd, name, 0755), 0);
		below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		(void)close(fd);
		fd = below;
	}
	(void)close(fd);
}

static void depth_costs_no_descriptors(void)
{
	struct rlimit old, few = { 16, 16 };
	struct error err = ERROR_INIT;
	PLACE(p);

	make_deep(&p, "a-name-of-twenty-bytes", 1000);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
	few.rlim_max = old.rlim_max;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	CHECK_EQ(dirtree_remove(p.fd, "a-name-of-twenty-bytes", &err), 0);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
	CHECK_STR(err.text, "");
	CHECK(!is_there(&p, "a-name-of-twenty-bytes"));
}

static void other_file_systems_are_left_alone(void)
{
	struct error err = ERROR_INIT;
	int status = 0;
	pid_t pid;
	PLACE(p);

	put(&p, "t/mount/hidden");
	pid = fork();
	if (pid == 0) {
		_cleanup_free_ char *mount_point = path_join(p.dir, "t/mount");

		if (unshare(CLONE_NEWNS) < 0 ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("none", mount_point, "tmpfs", 0, NULL) < 0)
			_exit(77);
		test_failures = 0;
		(void)close(p.fd); /* it belongs to the old mounts */
		p.fd = open(p.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		put(&p, "t/mount/foreign");
		CHECK_EQ(dirtree_open(p.fd, "t/mount", &err), -EXDEV);
		CHECK_EQ(dirtree_remove(p.fd, "t", &err), -EBUSY);
		CHECK(is_there(&p, "t/mount/foreign"));
		_exit(test_failures != 0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		SKIP("may not mount");
	CHECK_EQ(status, 0);
}

static void nothing_is_opened_renamed_or_made_by_way_of_a_link(void)
{
	static const struct {
		const char *from, *to;
		int r;
	} renames[] = {
		{ "t/file", "t/link/x", -ENOTDIR },
		{ "t/file", "t/link/../x", -ENOTDIR },
		{ "t/link/precious", "t/x", -ENOTDIR },
		{ "t/file", "t/taken", -EEXIST },
		{ "t/link", "t/renamed", 0 }, /* the link itself */
		{ "t/file", "t/a/x", 0 },
	};
	struct error err = ERROR_INIT;
	size_t i;
	PLACE(p);

	put(&p, "t/a/b");
	put(&p, "t/file");
	put(&p, "t/taken");
	CHECK_EQ(symlinkat("../victim", p.fd, "t/link"), 0);
	CHECK(dirtree_open(p.fd, "t/link", &err) < 0);
	CHECK(strstr(err.text, "t/link: not a directory, or reached by a symbolic link"));
	CHECK(dirtree_open(p.fd, "t/file", &err) < 0);
	CHECK(dirtree_open(p.fd, "../..", &err) < 0);
	CHECK(dirtree_make_parents(p.fd, "t/link/new/x", 0755, &err) < 0);
	CHECK(!is_there(&p, "victim/new"));
	CHECK_EQ(dirtree_make_parents(p.fd, "t/made/by/us", 0755, &err), 0);
	CHECK(is_there(&p, "t/made/by") && !is_there(&p, "t/made/by/us"));
	for (i = 0; i < ARRAY_SIZE(renames); i++) {
		int r = dirtree_rename(p.fd, renames[i].from, renames[i].to, &err);

		if (!CHECK(r == renames[i].r || (r == -ELOOP && renames[i].r == -ENOTDIR)))
			printf("# row %zu: %d, %s\n", i, r, err.text);
	}
	CHECK(is_there(&p, "t/a/x") && is_there(&p, "victim/precious"));
}

TESTS(T(a_walk_visits_directories_after_their_contents), T(links_are_removed_not_followed),
      T(a_directory_swapped_for_a_link_leads_nowhere), T(depth_costs_no_descriptors),
      T(other_file_systems_are_left_alone), T(nothing_is_opened_renamed_or_made_by_way_of_a_link))
