/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "history/slice_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLICES = 20 };

static struct slice slice_of(int i)
{
	return (struct slice){ .span = { 1000 * i, 1000 * i + 1000 },
			       .samples = 100 + (uint64_t)i,
			       .taken = 50,
			       .lost = (uint64_t)i,
			       .cpu_ms = 2000 };
}

static void add(struct slice_file *f, int i)
{
	_cleanup_(strbuf_done) struct strbuf numbers = STRBUF_INIT;
	struct slice slice = slice_of(i);
	int k;

	for (k = 0; k < 50 + i; k++)
		strbuf_add_uleb(&numbers, (uint64_t)k * k << k % 40);
	CHECK_EQ(slice_file_add(f, &slice, numbers.text, numbers.length, NULL), 0);
}

/* Writes slices number @from to @to - 1. */
static void write_file(const char *path, int from, int to)
{
	_cleanup_(slice_file_closep) struct slice_file *f = NULL;
	int i;

	CHECK_EQ(slice_file_open(path, &f, NULL), 0);
	for (i = from; i < to; i++)
		add(f, i);
}

/* Whether the content of slice number @i is as it was written. */
static bool is_whole(struct slices *s, int i)
{
	struct slice_numbers n = { 0 };
	size_t size;
	int k;

	n.at = slices_content(s, &size);
	if (!n.at)
		return false;
	n.end = n.at + size;
	for (k = 0; k < 50 + i; k++)
		if (slice_get(&n) != (uint64_t)k * k << k % 40)
			return false;
	return n.at == n.end && !n.damaged;
}

/* Reads the file; the number of whole slices, each of which must be one that was written. */
static int count(const char *path, size_t *ret_damaged)
{
	_cleanup_(slices_freep) struct slices *s = NULL;
	struct slice slice;
	int n = 0, i;

	CHECK_EQ(slices_read(path, &s, NULL), 0);
	for (; slices_next(s, &slice); n++) {
		struct slice wanted = slice_of(i = (int)(slice.span.begin_ms / 1000));

		CHECK(!memcmp(&slice, &wanted, sizeof(slice)));
		CHECK(is_whole(s, i));
	}
	if (ret_damaged)
		*ret_damaged = slices_damaged(s);
	return n;
}

static void slices_come_back(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	size_t damaged;

	write_file(path, 0, 3);
	write_file(path, 3, SLICES);
	CHECK_EQ(count(path, &damaged), SLICES);
	CHECK_EQ(damaged, 0);
}

static void a_file_that_was_cut_keeps_the_whole_slices(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	struct stat st;
	off_t length, ends[SLICES + 1] = { 0 };
	int i, whole;

	for (i = 0; i < SLICES; i++) {
		write_file(path, i, i + 1);
		CHECK_EQ(stat(path, &st), 0);
		ends[i + 1] = st.st_size;
	}
	for (length = ends[SLICES]; length > 0; length -= 1 + length / 97) {
		for (whole = 0; whole < SLICES && ends[whole + 1] <= length; whole++)
			;
		CHECK_EQ(truncate(path, length), 0);
		CHECK_EQ(count(path, NULL), whole);
	}
	/* The next writer goes on after the last whole slice. */
	write_file(path, 0, SLICES);
	CHECK_EQ(truncate(path, ends[10] + 7), 0);
	write_file(path, 10, SLICES);
	CHECK_EQ(count(path, NULL), SLICES);
}

static void a_flipped_bit_costs_one_slice(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	_cleanup_close_ int fd = -1;
	struct stat st;
	size_t damaged;
	off_t at;

	write_file(path, 0, SLICES);
	CHECK_EQ(stat(path, &st), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	for (at = 0; at < st.st_size; at += 13) {
		uint8_t byte, other;

		CHECK_EQ(pread(fd, &byte, 1, at), 1);
		other = byte ^ (uint8_t)(1u << at % 8);
		CHECK_EQ(pwrite(fd, &other, 1, at), 1);
		CHECK_EQ(count(path, &damaged), SLICES - 1);
		CHECK(damaged > 64);
		CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
	}
	CHECK_EQ(count(path, NULL), SLICES);
}

/* From the begin of slice number @first to the end of number @last. */
static void check_span(const char *path, int first, int last)
{
	struct window span = { 0, 0 };

	CHECK_EQ(slices_span(path, &span), 0);
	CHECK_EQ(span.begin_ms, slice_of(first).span.begin_ms);
	CHECK_EQ(span.end_ms, slice_of(last).span.end_ms);
}

static void damage_hides_no_slices_after_it(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	static const off_t fields[] = { 0, 8 }; /* the magic number, the size */
	size_t i;

	write_file(path, 0, SLICES);
	check_span(path, 0, SLICES - 1);
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		_cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
		uint8_t byte;

		CHECK_EQ(pread(fd, &byte, 1, fields[i]), 1);
		byte ^= 0x55;
		CHECK_EQ(pwrite(fd, &byte, 1, fields[i]), 1);
		check_span(path, 1, SLICES - 1);
		byte ^= 0x55;
		CHECK_EQ(pwrite(fd, &byte, 1, fields[i]), 1);
	}
}

static void what_is_no_file_of_slices_is_refused_or_empty(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	struct slices *s = NULL;
	struct error err = ERROR_INIT;
	size_t damaged;

	CHECK_EQ(slices_read(path, &s, &err), -ENOENT);
	CHECK(strstr(err.text, path));
	CHECK_EQ(slices_read(dir, &s, &err), -EISDIR);
	CHECK_EQ(path_write(path, "not slices", 0644, NULL), 0);
	CHECK_EQ(count(path, &damaged), 0);
	CHECK_EQ(damaged, strlen("not slices"));
	CHECK_EQ(truncate(path, (off_t)1 << 40), 0);
	CHECK(slices_read(path, &s, &err) < 0);
}

static void numbers_end_where_their_bytes_end(void)
{
	static const uint8_t bytes[] = { 1, 0x80, 0x80 };
	struct slice_numbers n = { bytes, bytes + sizeof(bytes), false };

	CHECK_EQ(slice_get(&n), 1);
	CHECK(!n.damaged);
	CHECK_EQ(slice_get(&n), 0);
	CHECK(n.damaged);
}

TESTS(T(slices_come_back), T(a_file_that_was_cut_keeps_the_whole_slices),
      T(a_flipped_bit_costs_one_slice), T(damage_hides_no_slices_after_it),
      T(what_is_no_file_of_slices_is_refused_or_empty), T(numbers_end_where_their_bytes_end))
