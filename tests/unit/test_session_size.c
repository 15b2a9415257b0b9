/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/internal/session_size.h"

#include "base/clock.h"
#include "base/mem.h"
#include "file/path.h"
#include "test.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 300 };

static void make_files(const char *directory)
{
	for (int i = 0; i < FILES; i++) {
		_cleanup_free_ char *path = xasprintf("%s/%d", directory, i);
		_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

		CHECK(fd >= 0);
		if (i % 100 == 0)
			CHECK_EQ(write(fd, "x", 1), 1);
	}
}

/* Waits for the result, without using the CPU for long. */
static uint64_t await(struct session_size *s, uint64_t *ret_took_ns)
{
	const struct timespec ms = { 0, 1000000 };
	uint64_t bytes = 0;

	while (!session_size_take(s, &bytes, ret_took_ns))
		(void)nanosleep(&ms, NULL);
	return bytes;
}

static void the_caller_does_not_walk(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(session_size_freep) struct session_size *s = session_size_new(directory);
	uint64_t since_ns, own_ns, took_ns = 0, bytes;

	make_files(directory);
	CHECK(!session_size_take(s, &bytes, &took_ns));
	CHECK(session_size_ask(s)); /* starts the thread */
	CHECK(session_size_is_asked(s));
	(void)await(s, &took_ns);
	since_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	CHECK(session_size_ask(s));
	own_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - since_ns;
	bytes = await(s, &took_ns);
	CHECK_EQ(bytes, path_disk_bytes(directory, NULL, NULL));
	CHECK(bytes > 0);
	CHECK(!session_size_is_asked(s));
	CHECK(own_ns < took_ns);
}

static void a_forgotten_walk_has_no_result(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_free_ char *inside = path_join(directory, "inside");
	_cleanup_(session_size_freep) struct session_size *s = session_size_new(inside);
	uint64_t took_ns, bytes;

	CHECK_EQ(path_make_dirs(inside, 0755, NULL), 0);
	CHECK(session_size_ask(s));
	session_size_forget(s);
	CHECK(!session_size_is_asked(s));
	CHECK_EQ(path_remove_tree(inside, NULL), 0);
	/* The directory is gone: only the first walk may have found it. */
	CHECK(session_size_ask(s));
	CHECK_EQ(await(s, &took_ns), 0);
	CHECK(!session_size_take(s, &bytes, &took_ns));
}

static bool until_two(const void *data)
{
	return ++*(int *)(uintptr_t)data < 2;
}

static void a_walk_ends_early(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_free_ char *one = path_join(directory, "XXXXXX");
	_cleanup_free_ char *two = xstrdup(one);
	int calls = 0;

	CHECK(mkdtemp(one) && mkdtemp(two));
	(void)path_disk_bytes(directory, until_two, &calls);
	CHECK_EQ(calls, 2);
}

TESTS(T(the_caller_does_not_walk), T(a_forgotten_walk_has_no_result), T(a_walk_ends_early));
