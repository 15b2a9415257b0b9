/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "file/holes.h"

#include <fcntl.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

/* Writes @size bytes at @at. */
static void fill(int fd, size_t size, off_t at)
{
	_cleanup_free_ char *bytes = xmalloc(size);

	memset(bytes, 'x', size);
	CHECK_EQ(pwrite(fd, bytes, size, at), size);
}

static void holes_are_weighed_against_what_is_written(void)
{
	static const struct {
		size_t written; /* at the start */
		off_t length;
		bool prevail;
	} rows[] = {
		{ 4096, 8 * MIB, false },	   { 4096, 64 * MIB, true },
		{ 4096, (off_t)1 << 40, true },	   { 4 * MIB, 40 * MIB, false },
		{ 4 * MIB, 64 * MIB, true },	   { 20 * MIB, 20 * MIB, false },
		{ 4 * MIB, (off_t)1 << 40, true },
	};
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		fill(fd, rows[i].written, 0);
		CHECK_EQ(ftruncate(fd, rows[i].length), 0);
		CHECK_EQ(lseek(fd, 5, SEEK_SET), 5);
		if (holes_prevail(fd, (uint64_t)rows[i].length) != rows[i].prevail)
			printf("# row %zu\n", i);
		CHECK_EQ(holes_prevail(fd, (uint64_t)rows[i].length), rows[i].prevail);
		CHECK_EQ(lseek(fd, 0, SEEK_CUR), 5);
		/* Only the bytes that matter count. */
		CHECK(!holes_prevail(fd, rows[i].written));
	}
}

static void block_at_the_end_makes_no_difference(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	fill(fd, 4096, (off_t)1 << 40);
	CHECK(holes_prevail(fd, ((uint64_t)1 << 40) + 4096));
}

static void unseekable_files_have_none(void)
{
	_cleanup_close_ int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	CHECK(!holes_prevail(fd, UINT64_MAX));
}

TESTS(T(holes_are_weighed_against_what_is_written), T(block_at_the_end_makes_no_difference),
      T(unseekable_files_have_none))
