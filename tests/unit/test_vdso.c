/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/elf/vdso.c: this process's vdso, in memory and in a file. */
#include "test.h"

#include "elf/elffile.h"
#include "elf/vdso.h"

static void saved_image_is_the_one_in_memory(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "vdso");
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	const void *bytes;

	if (!vdso_image())
		SKIP("this process has no vdso");
	CHECK_EQ(vdso_save(path, NULL), 0);
	CHECK_EQ(elffile_open(path, &ef, NULL), 0);
	if (!ef)
		return;
	CHECK_EQ(elffile_size(ef), vdso_size());
	bytes = elffile_bytes(ef, 0, vdso_size());
	CHECK(bytes && !memcmp(bytes, vdso_image(), vdso_size()));
}

static void present_file_is_kept(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "vdso"), *text = NULL;

	if (!vdso_image())
		SKIP("this process has no vdso");
	CHECK_EQ(path_write(path, "of another boot", 0600, NULL), 0);
	CHECK_EQ(vdso_save(path, NULL), 0);
	CHECK(path_read("", path, &text, NULL) > 0);
	CHECK_STR(text, "of another boot");
}

TESTS(T(saved_image_is_the_one_in_memory), T(present_file_is_kept))
