/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/file/open_regular.c: nothing but a regular file is opened, and no open waits. */
#include "test.h"

#include "file/open_regular.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static char *file_with(const char *directory, const char *name, const char *text)
{
	char *path = path_join(directory, name);

	CHECK_EQ(path_write(path, text, 0644, NULL), 0);
	return path;
}

/* Opens @path by @open; its text, or the phrase that says why not. Caller frees. */
static char *text_by(int (*open)(const char *path, int flags), const char *path, int flags)
{
	char text[64] = "";
	_cleanup_close_ int fd = open(path, flags);

	if (fd < 0)
		return xstrdup(open_regular_why(fd));
	CHECK(read(fd, text, sizeof(text) - 1) >= 0);
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	return xstrdup(text);
}

static void regular_files_and_links_to_them_are_opened(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *file = file_with(dir, "file", "text"), *link = path_join(dir, "link"),
			    *by_name = NULL, *by_link = NULL, *not_followed = NULL, *none = NULL;

	CHECK_EQ(symlink("file", link), 0);
	by_name = text_by(open_regular, file, O_RDONLY);
	by_link = text_by(open_regular, link, O_RDONLY);
	not_followed = text_by(open_regular, link, O_RDONLY | O_NOFOLLOW);
	none = text_by(open_regular, "/no/such/file", O_RDONLY);
	CHECK_STR(by_name, "text");
	CHECK_STR(by_link, "text");
	CHECK_STR(not_followed, "Too many levels of symbolic links");
	CHECK_STR(none, "No such file or directory");
}

/* Whether anything was opened since @opens began to watch. */
static bool was_opened(int opens)
{
	char event[4096];

	return read(opens, event, sizeof(event)) > 0;
}

static void nothing_else_is_ever_opened(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *fifo = path_join(dir, "fifo"), *device = path_join(dir, "device");
	const char *const paths[] = { fifo, device, "/dev/full" };
	_cleanup_close_ int opens = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	size_t i;

	CHECK_EQ(mkfifo(fifo, 0600), 0);
	CHECK_EQ(symlink("/dev/full", device), 0);
	(void)alarm(20); /* a blocked open must not hang the test */
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		CHECK(inotify_add_watch(opens, paths[i], IN_OPEN) >= 0);
		CHECK_EQ(open_regular(paths[i], O_RDONLY), -EMEDIUMTYPE);
		CHECK_EQ(open_regular(paths[i], O_RDWR), -EMEDIUMTYPE);
		CHECK(!was_opened(opens));
	}
	CHECK_EQ(open_regular(dir, O_RDONLY), -EISDIR);
	CHECK_EQ(open_regular_sample(dir), -EISDIR);
	CHECK_EQ(open_regular_sample(fifo), -EMEDIUMTYPE);
	CHECK_EQ(open_regular_sample(device), -ELOOP);
	(void)was_opened(opens);
	CHECK_EQ(open_regular_or_create(fifo, O_WRONLY, 0600), -EMEDIUMTYPE);
	CHECK(!was_opened(opens));
	CHECK_STR(open_regular_why(-EMEDIUMTYPE), "not a regular file");
	(void)alarm(0);
}

static void lease_is_not_waited_for(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = file_with(dir, "file", "text"), *why = NULL, *later = NULL;
	_cleanup_close_ int holder = open(path, O_RDONLY);

	(void)signal(SIGIO, SIG_IGN);
	if (fcntl(holder, F_SETLEASE, F_WRLCK) < 0)
		SKIP("this file system has no leases");
	(void)alarm(20);
	why = text_by(open_regular, path, O_RDONLY);
	CHECK_STR(why, "another process holds a lease on it; try again");
	CHECK_EQ(fcntl(holder, F_SETLEASE, F_UNLCK), 0);
	later = text_by(open_regular, path, O_RDONLY);
	CHECK_STR(later, "text");
	(void)alarm(0);
}

static void links_stay_in_a_root(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ _unused_ char *file = file_with(dir, "file", "inside");
	_cleanup_free_ char *link = path_join(dir, "link"), *by_way = path_join(dir, "way");
	_cleanup_close_ int root = open(dir, O_PATH | O_DIRECTORY), by_link = -1, by_dots = -1;
	_cleanup_close_ int found = -1;

	CHECK_EQ(symlink("/file", link), 0);
	by_link = open_regular_find(root, "/link");
	by_dots = open_regular_find(root, "../../file");
	CHECK(by_link >= 0 && by_dots >= 0);
	found = open_regular_found(by_dots, O_RDONLY);
	CHECK(found >= 0);
	CHECK_EQ(open_regular_found(by_link, O_RDONLY), -ELOOP);
	CHECK_EQ(symlink("/", by_way), 0);
	CHECK(open_regular_find(root, "/way/etc/passwd") < 0);
}

static void files_are_created_or_opened(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "new"), *link = path_join(dir, "link");
	_cleanup_close_ int first = open_regular_or_create(path, O_WRONLY, 0600), second = -1;
	struct stat a = { 0 }, b = { 0 };

	CHECK(first >= 0);
	second = open_regular_or_create(path, O_RDWR, 0600);
	CHECK(second >= 0 && fstat(first, &a) == 0 && fstat(second, &b) == 0);
	CHECK_EQ(a.st_ino, b.st_ino);
	CHECK_EQ(symlink("other", link), 0);
	CHECK_EQ(open_regular_or_create(link, O_WRONLY, 0600), -ELOOP);
}

static void new_file_replaces_what_was_there(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *victim = file_with(dir, "victim", "keep"),
			    *link = path_join(dir, "link"), *text = NULL;
	_cleanup_close_ int fd = -1;
	struct stat st = { 0 };

	CHECK_EQ(symlink("victim", link), 0);
	fd = open_regular_new(link, O_WRONLY, 0600);
	CHECK(fd >= 0 && write(fd, "new", 3) == 3);
	CHECK(lstat(link, &st) == 0 && S_ISREG(st.st_mode));
	CHECK_EQ(path_read(NULL, victim, &text, NULL), 4);
	CHECK_STR(text, "keep");
	CHECK_EQ(open_regular_new(dir, O_WRONLY, 0600), -EISDIR);
}

TESTS(T(regular_files_and_links_to_them_are_opened), T(nothing_else_is_ever_opened),
      T(lease_is_not_waited_for), T(links_stay_in_a_root), T(files_are_created_or_opened),
      T(new_file_replaces_what_was_there))
