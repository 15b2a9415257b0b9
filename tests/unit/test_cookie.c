/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "identity/cookie.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

DEFINE_CLEANUP(struct cookie_table *, cookie_table_free);
#define _cleanup_table_ _cleanup_(cookie_table_freep)

static void file_is_known_by_its_inode(void)
{
	_cleanup_table_ struct cookie_table *t = cookie_table_new();
	uint64_t a =
		cookie_file(t, &(struct file_identity){ 8ULL << 32 | 1, 100, 7 }, "/usr/bin/a");

	CHECK(a != 0);
	CHECK_EQ(cookie_file(t, &(struct file_identity){ 8ULL << 32 | 1, 100, 7 }, "/usr/bin/a"),
		 a);
	CHECK_EQ(cookie_file(t, &(struct file_identity){ 8ULL << 32 | 1, 100, 7 }, "/mnt/bind/a"),
		 a);
	CHECK(cookie_file(t, &(struct file_identity){ 8ULL << 32 | 1, 101, 7 }, "/usr/bin/a") != a);
	CHECK(cookie_file(t, &(struct file_identity){ 8ULL << 32 | 2, 100, 7 }, "/usr/bin/a") != a);
	CHECK(cookie_file(t, &(struct file_identity){ 8ULL << 32 | 1, 100, 8 }, "/usr/bin/a") != a);
	CHECK_STR(cookie_lookup(t, a)->path, "/usr/bin/a");
	CHECK_EQ(cookie_count(t), 4);
}

static void unknown_generation_agrees_where_the_path_does(void)
{
	_cleanup_table_ struct cookie_table *t = cookie_table_new();
	uint64_t a = cookie_file(t, &(struct file_identity){ 1, 100, 0 }, "/lib/libc.so.6");

	CHECK_EQ(cookie_file(t, &(struct file_identity){ 1, 100, 9 }, "/lib/libc.so.6"), a);
	CHECK_EQ(cookie_lookup(t, a)->file.generation, 9);
	CHECK_EQ(cookie_file(t, &(struct file_identity){ 1, 100, 0 }, "/lib/libc.so.6"), a);
	CHECK_EQ(cookie_file(t, &(struct file_identity){ 1, 100, 0 }, "/lib/libc.so.6 (deleted)"),
		 a);
	CHECK(cookie_file(t, &(struct file_identity){ 1, 100, 10 }, "/lib/libc.so.6") != a);
	CHECK(cookie_file(t, &(struct file_identity){ 1, 100, 0 }, "/tmp/reused-inode") != a);
}

static void files_without_an_inode_are_known_by_path(void)
{
	_cleanup_table_ struct cookie_table *t = cookie_table_new();
	uint64_t a = cookie_file(t, &(struct file_identity){ 0, 0, 0 }, "/odd/a");

	CHECK(cookie_file(t, &(struct file_identity){ 0, 0, 0 }, "/odd/b") != a);
	CHECK_EQ(cookie_file(t, &(struct file_identity){ 0, 0, 0 }, "/odd/a"), a);
}

static void deleted_suffix_is_cut_off_but_for_nameless_memory(void)
{
	static const struct {
		const char *seen, *path;
	} rows[] = {
		{ "/tmp/a (deleted)", "/tmp/a" },
		{ "/tmp/a", "/tmp/a" },
		{ "/memfd:jit (deleted)", "/memfd:jit (deleted)" },
		{ "/SYSV00000000 (deleted)", "/SYSV00000000 (deleted)" },
		{ " (deleted)", " (deleted)" },
	};
	_cleanup_table_ struct cookie_table *t = cookie_table_new();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(cookie_lookup(t, cookie_file(t, &(struct file_identity){ 1, 10 + i, 1 },
						       rows[i].seen))
				  ->path,
			  rows[i].path);
}

static void anonymous_region_that_grows_keeps_its_cookie(void)
{
	_cleanup_table_ struct cookie_table *t = cookie_table_new();
	uint64_t a = cookie_anon(t, 7, 0x1000, 0x2000, "anon");

	CHECK_EQ(cookie_anon(t, 7, 0x1000, 0x4000, "anon"), a);
	CHECK_EQ(cookie_lookup(t, a)->end, 0x4000);
	CHECK_EQ(cookie_anon(t, 7, 0x1000, 0x2000, "anon"), a);
	CHECK_EQ(cookie_lookup(t, a)->end, 0x4000);
	CHECK(cookie_anon(t, 8, 0x1000, 0x2000, "anon") != a);
	CHECK(cookie_anon(t, 7, 0x1000, 0x2000, "[heap]") != a);
	CHECK(cookie_anon(t, 7, 0x3000, 0x4000, "anon") != a);
}

static void kernel_threads_share_the_part_before_the_slash(void)
{
	_cleanup_table_ struct cookie_table *t = cookie_table_new();
	uint64_t kworker = cookie_thread(t, "kworker/0:2-even");

	CHECK_EQ(cookie_thread(t, "kworker/u8:1"), kworker);
	CHECK_STR(cookie_lookup(t, kworker)->path, "kworker");
	CHECK(cookie_thread(t, "ksoftirqd/0") != kworker);
	CHECK_STR(cookie_lookup(t, cookie_thread(t, "/odd"))->path, "unnamed");
	CHECK_EQ(cookie_vdso(t), cookie_vdso(t));
	CHECK_EQ(cookie_lookup(t, cookie_vdso(t))->kind, COOKIE_VDSO);
}

static void recorded_cookies_keep_their_numbers(void)
{
	char path[] = "/usr/bin/x", newer[] = "/usr/bin/y";
	struct cookie_image image = { .cookie = 0xffff880012345678,
				      .kind = COOKIE_FILE,
				      .file.inode = 3,
				      .file.device = 1,
				      .path = path };
	_cleanup_table_ struct cookie_table *t = cookie_table_new();
	const struct cookie_image *old;

	cookie_define(t, &image);
	old = cookie_lookup(t, image.cookie);
	CHECK_STR(old->path, "/usr/bin/x");
	CHECK_EQ(cookie_file(t, &(struct file_identity){ 1, 3, 0 }, "/usr/bin/x"), image.cookie);
	image.path = newer;
	cookie_define(t, &image);
	CHECK_STR(old->path, "/usr/bin/x"); /* still the borrower's */
	CHECK_STR(cookie_lookup(t, image.cookie)->path, "/usr/bin/y");
	CHECK_EQ(cookie_count(t), 1);
	CHECK_EQ(cookie_file(t, &(struct file_identity){ 2, 3, 0 }, "/usr/bin/z"),
		 image.cookie + 1);
	CHECK(!cookie_lookup(t, 1));
	CHECK(!cookie_lookup(t, 0));
	CHECK_STR(cookie_at(t, 1)->path, "/usr/bin/z");
}

static void many_files_are_all_found(void)
{
	_cleanup_table_ struct cookie_table *t = cookie_table_new();
	uint64_t i;

	for (i = 1; i <= 5000; i++)
		CHECK_EQ(cookie_file(t, &(struct file_identity){ 1, i, 1 }, "/x"), i);
	for (i = 1; i <= 5000; i++)
		CHECK_EQ(cookie_lookup(t, i)->file.inode, i);
}

static void images_nobody_asks_for_are_swept(void)
{
	_cleanup_table_ struct cookie_table *t = cookie_table_new();
	uint64_t asked, looked_up, idle, region;

	asked = cookie_anon(t, 1, 0x1000, 0x2000, "anon");
	looked_up = cookie_thread(t, "kworker");
	idle = cookie_cgroup(t, "/old");
	region = cookie_anon(t, 2, 0x1000, 0x2000, "anon");
	CHECK_EQ(cookie_sweep(t, NULL), 0);
	cookie_age(t);
	CHECK_EQ(cookie_anon(t, 1, 0x1000, 0x3000, "anon"), asked);
	CHECK(cookie_lookup(t, looked_up));
	CHECK_EQ(cookie_sweep(t, NULL), 2);
	CHECK_EQ(cookie_count(t), 2);
	CHECK_EQ(cookie_anon(t, 1, 0x1000, 0x3000, "anon"), asked);
	CHECK(!cookie_lookup(t, idle) && !cookie_lookup(t, region));
	/* A number never has another meaning. */
	CHECK(cookie_cgroup(t, "/old") > region);
}

/* Code of the kernel may be in a queue while others are swept. */
static void code_that_is_gone_is_swept_later(void)
{
	_cleanup_table_ struct cookie_table *t = cookie_table_new();
	uint64_t code = cookie_code(t, "bpf_prog_1"), used = cookie_code(t, "bpf_prog_2");

	cookie_age(t);
	CHECK_EQ(cookie_sweep(t, NULL), 0);
	CHECK(cookie_lookup(t, used));
	cookie_age(t);
	CHECK_EQ(cookie_sweep(t, NULL), 1);
	CHECK(!cookie_lookup(t, code) && cookie_lookup(t, used));
}

/* The test program itself is a file with a build-id that is there to be read. */
static void file_that_was_mapped_is_identified(void)
{
	_cleanup_table_ struct cookie_table *t = cookie_table_new();
	const struct cookie_image *image;
	char self[4096];
	struct stat st;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct file_identity file;
	uint64_t cookie;

	CHECK(n > 0 && stat("/proc/self/exe", &st) == 0);
	file = file_identity_of(&st);
	self[n] = '\0';
	cookie = cookie_file(t, &file, self);
	cookie_identify(t, cookie, &(struct cookie_mapped){ .tgid = (uint32_t)getpid() });
	image = cookie_lookup(t, cookie);
	CHECK(image->identified);
	CHECK(image->verified);
	CHECK_EQ(image->version.size, st.st_size);
	CHECK_EQ(image->version.mtime, st.st_mtime);
	CHECK_EQ(image->version.build_id.size, 20);
}

static void another_file_under_that_path_is_not_taken(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "file"), *fifo = path_join(dir, "fifo");
	_cleanup_table_ struct cookie_table *t = cookie_table_new();
	const struct cookie_image *image;
	struct stat st;
	uint64_t device;

	CHECK_EQ(path_write(path, "no ELF", 0644, NULL), 0);
	CHECK_EQ(mkfifo(fifo, 0600), 0);
	CHECK_EQ(stat(path, &st), 0);
	device = (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev);
	image = cookie_lookup(t, cookie_file(t, &(struct file_identity){ device, st.st_ino + 1, 0 },
					     path));
	cookie_identify(t, image->cookie, &(struct cookie_mapped){ 0 });
	CHECK(image->identified && !image->verified && image->version.size == 0);
	image = cookie_lookup(t, cookie_file(t, &(struct file_identity){ device, st.st_ino, 0 },
					     path));
	cookie_identify(t, image->cookie, &(struct cookie_mapped){ 0 });
	CHECK(image->verified && image->version.size == 6 && image->version.build_id.size == 0);
	/* Must not hang: nobody writes into that FIFO. */
	image = cookie_lookup(t, cookie_file(t, &(struct file_identity){ 0, 0, 0 }, fifo));
	cookie_identify(t, image->cookie, &(struct cookie_mapped){ 0 });
	CHECK(!image->verified && image->version.size == 0);
}

/* A build that writes over a program in place leaves device, inode and generation as they were. */
static void file_changed_in_place_gets_a_new_cookie(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "program");
	_cleanup_table_ struct cookie_table *t = cookie_table_new();
	const struct cookie_mapped where = { NULL, 0, 0, 0 };
	const uint64_t second = 1000000000;
	_cleanup_close_ int fd = -1;
	struct file_identity file;
	struct stat st, now;
	uint64_t old, new;

	CHECK_EQ(path_write(path, "one", 0644, NULL), 0);
	CHECK_EQ(stat(path, &st), 0);
	file = file_identity_of(&st);
	old = cookie_file(t, &file, path);
	CHECK_EQ(cookie_renew(t, old, &where, 1 * second), old);
	cookie_identify(t, old, &(struct cookie_mapped){ 0 });
	CHECK_EQ(cookie_renew(t, old, &where, 10 * second), old);
	fd = open(path, O_WRONLY | O_TRUNC);
	CHECK_EQ(write(fd, "three", 5), 5);
	CHECK_EQ(cookie_renew(t, old, &where, 11 * second), old); /* looked a moment ago */
	new = cookie_renew(t, old, &where, 20 * second);
	CHECK(new != old);
	CHECK_EQ(cookie_lookup(t, old)->version.size, 3);
	CHECK_EQ(cookie_lookup(t, new)->version.size, 5);
	CHECK_EQ(cookie_file(t,
			     &(struct file_identity){ cookie_lookup(t, new)->file.device,
						      st.st_ino },
			     path),
		 new);
	CHECK_EQ(cookie_renew(t, old, &where, 30 * second), new);
	/* As many bytes and the same mtime, where only ctime is left. */
	cookie_identify(t, new, &(struct cookie_mapped){ 0 });
	CHECK_EQ(fstat(fd, &st), 0);
	old = new;
	do {
		CHECK_EQ(pwrite(fd, "THREE", 5, 0), 5);
		CHECK_EQ(futimens(fd, (struct timespec[]){ st.st_atim, st.st_mtim }), 0);
		CHECK_EQ(fstat(fd, &now), 0);
	} while (file_version_ctime_ns(&now) == file_version_ctime_ns(&st));
	new = cookie_renew(t, old, &where, 35 * second);
	CHECK(new != old);
	/* Gone is not changed. */
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(cookie_renew(t, new, &where, 45 * second), new);
}

/* Whether the mount of a device can be seen: not that of a root left by chroot(2). */
static bool is_mounted(dev_t device)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *id = xasprintf(" %u:%u ", major(device), minor(device));

	return path_read("", "/proc/self/mountinfo", &text, NULL) >= 0 && strstr(text, id);
}

/* A copy of this program at @path, whose build-id is known; false if it cannot be made. */
static bool copy_self(const char *path)
{
	_cleanup_close_ int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	struct stat st;

	return fstat(from, &st) == 0 && sendfile(to, from, NULL, (size_t)st.st_size) == st.st_size;
}

static void file_that_was_renamed_is_found_by_its_inode(void)
{
	_cleanup_table_ struct cookie_table *t = cookie_table_new();
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_free_ char *old = path_join(directory, "old"), *new = path_join(directory, "new");
	_cleanup_close_ int fd = -1;
	/* The request says long, file systems write an int. */
	uint32_t generation[2] = { 0 };
	const struct cookie_image *image;
	uint64_t device, cookie;
	struct stat st;

	CHECK(copy_self(old));
	fd = open(old, O_RDONLY | O_CLOEXEC);
	if (geteuid() != 0 || ioctl(fd, FS_IOC_GETVERSION, generation) < 0 || !generation[0])
		SKIP("no root, or a file system without generations");
	CHECK_EQ(fstat(fd, &st), 0);
	if (!is_mounted(st.st_dev))
		SKIP("in a chroot, whose file system is mounted nowhere to be seen");
	device = (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev);
	/* Its process has gone, and another file has its name. */
	CHECK_EQ(rename(old, new), 0);
	CHECK_EQ(path_write(old, "another", 0644, NULL), 0);
	cookie = cookie_file(t, &(struct file_identity){ device, st.st_ino, generation[0] }, old);
	cookie_identify(t, cookie, &(struct cookie_mapped){ 0 });
	image = cookie_lookup(t, cookie);
	CHECK(image->verified);
	CHECK_EQ(image->version.size, st.st_size);
	CHECK_EQ(image->version.mtime, st.st_mtime);
	CHECK_EQ(image->version.build_id.size, 20);
	CHECK_STR(image->host, new);
	/* Of one that is gone nothing is known, and nobody else's inode is taken for it. */
	cookie = cookie_file(t, &(struct file_identity){ device, st.st_ino, generation[0] + 1 },
			     old);
	cookie_identify(t, cookie, &(struct cookie_mapped){ 0 });
	CHECK(!cookie_lookup(t, cookie)->verified);
	CHECK_EQ(cookie_lookup(t, cookie)->version.size, 0);
}

TESTS(T(file_changed_in_place_gets_a_new_cookie), T(file_is_known_by_its_inode),
      T(unknown_generation_agrees_where_the_path_does), T(files_without_an_inode_are_known_by_path),
      T(deleted_suffix_is_cut_off_but_for_nameless_memory),
      T(anonymous_region_that_grows_keeps_its_cookie),
      T(kernel_threads_share_the_part_before_the_slash), T(recorded_cookies_keep_their_numbers),
      T(many_files_are_all_found), T(images_nobody_asks_for_are_swept),
      T(code_that_is_gone_is_swept_later), T(file_that_was_mapped_is_identified),
      T(another_file_under_that_path_is_not_taken), T(file_that_was_renamed_is_found_by_its_inode))
