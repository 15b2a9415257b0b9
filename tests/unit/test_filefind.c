/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/elf/filefind.c: files below directories, by name. */
#include "test.h"

#include "elf/filefind.h"

static void make(const char *dir, const char *name)
{
	_cleanup_free_ char *path = path_join(dir, name);

	CHECK_EQ(path_make_parents(path, 0700, NULL), 0);
	CHECK_EQ(path_write(path, "x", 0600, NULL), 0);
}

/* What @ff finds as the @i-th file called @name, without the directory @dir; "" for none. */
static const char *found(struct filefind *ff, const char *dir, const char *name, size_t i)
{
	const char *path = filefind_get(ff, name, i);

	return path && !strncmp(path, dir, strlen(dir)) ? path + strlen(dir) : "";
}

static void files_are_found_at_any_depth_in_order_of_path(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct filefind *ff = filefind_new();

	make(dir, "kernel/fs/xfs.ko");
	make(dir, "extra/xfs.ko");
	make(dir, "extra/xfs.ko.xz");
	make(dir, "extra/ext4.ko");
	filefind_add(ff, dir);
	CHECK_STR(found(ff, dir, "xfs.ko", 0), "/extra/xfs.ko");
	CHECK_STR(found(ff, dir, "xfs.ko", 1), "/kernel/fs/xfs.ko");
	CHECK_STR(found(ff, dir, "xfs.ko", 2), "");
	CHECK_STR(found(ff, dir, "ext4.ko", 0), "/extra/ext4.ko");
	CHECK_STR(found(ff, dir, "ext4.ko", 1), "");
	CHECK_STR(found(ff, dir, "xfs", 0), "");
	CHECK_STR(found(ff, dir, "zfs.ko", 0), "");
	filefind_free(ff);
}

static void directories_may_be_added_after_a_search(void)
{
	_cleanup_directory_ char *first = test_directory();
	_cleanup_directory_ char *second = test_directory();
	struct filefind *ff = filefind_new();

	CHECK(!filefind_get(ff, "a.ko", 0));
	make(first, "b.ko");
	filefind_add(ff, first);
	CHECK_STR(found(ff, first, "b.ko", 0), "/b.ko");
	make(second, "a.ko");
	filefind_add(ff, second);
	CHECK_STR(found(ff, second, "a.ko", 0), "/a.ko");
	CHECK_STR(found(ff, first, "b.ko", 0), "/b.ko");
	filefind_free(ff);
}

static void links_and_missing_directories_have_no_files(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *file = path_join(dir, "real/a.ko");
	_cleanup_free_ char *link = path_join(dir, "linked.ko");
	_cleanup_free_ char *missing = path_join(dir, "missing");
	struct filefind *ff = filefind_new();

	make(dir, "real/a.ko");
	CHECK_EQ(symlink(file, link), 0);
	filefind_add(ff, dir);
	filefind_add(ff, missing);
	CHECK_STR(found(ff, dir, "a.ko", 0), "/real/a.ko");
	CHECK(!filefind_get(ff, "linked.ko", 0));
	filefind_free(ff);
}

TESTS(T(files_are_found_at_any_depth_in_order_of_path), T(directories_may_be_added_after_a_search),
      T(links_and_missing_directories_have_no_files))
