/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/internal/thread_namer.h"

#include "test.h"

#include "file/path.h"
#include "sfile/session_names.h"

static void names_are_kept(void)
{
	static const char worker[] = "worker", unknown[] = "(unknown)", other[] = "other";
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(session_names_freep) struct session_names *names = session_names_new();
	struct thread_namer *n = thread_namer_new(dir);

	thread_namer_see(n, 7, 8, worker);
	thread_namer_see(n, 7, 8, unknown);
	thread_namer_see(n, 7, 9, unknown);
	thread_namer_see(n, 7, 10, worker);
	thread_namer_see(n, 7, 10, other);
	thread_namer_finish(n);
	session_names_read(names, dir);
	CHECK_STR(session_names_thread(names, 7, 8), "worker");
	CHECK(!session_names_thread(names, 7, 9));
	CHECK_STR(session_names_thread(names, 7, 10), "other");
	thread_namer_free(n);
}

/* Those of threads that live on must not go when the file before it does. */
static void names_are_written_again_in_a_new_file(void)
{
	static const char worker[] = "worker", other[] = "other";
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "threads"), *old = path_join(dir, "threads.old");
	_cleanup_(session_names_freep) struct session_names *names = session_names_new();
	struct thread_namer *n = thread_namer_new(dir);

	thread_namer_see(n, 7, 8, worker);
	thread_namer_finish(n);
	CHECK_EQ(truncate(path, 9 << 20), 0);
	thread_namer_see(n, 7, 9, other);
	thread_namer_finish(n);
	CHECK_EQ(unlink(old), 0);
	thread_namer_see(n, 7, 8, worker);
	thread_namer_finish(n);
	session_names_read(names, dir);
	CHECK_STR(session_names_thread(names, 7, 8), "worker");
	CHECK_STR(session_names_thread(names, 7, 9), "other");
	thread_namer_free(n);
}

/* When a session is saved, names that were not written yet are those of its threads. */
static void names_do_not_go_to_the_next_session(void)
{
	static const char worker[] = "worker";
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "threads"), *text = NULL;
	struct thread_namer *n = thread_namer_new(dir);

	thread_namer_see(n, 7, 8, worker);
	thread_namer_forget(n);
	CHECK(path_read(NULL, path, &text, NULL) > 0);
	CHECK_STR(text, "7.8\tworker\n");
	CHECK_EQ(unlink(path), 0);
	thread_namer_write(n);
	CHECK_EQ(access(path, F_OK), -1);
	thread_namer_free(n);
}

/* Samples of a thread that became another program come in any order. */
static void most_samples_have_the_name(void)
{
	static const char shell[] = "sh", program[] = "program";
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(session_names_freep) struct session_names *names = session_names_new();
	struct thread_namer *n = thread_namer_new(dir);
	int i;

	thread_namer_see(n, 7, 7, shell);
	for (i = 0; i < 3; i++)
		thread_namer_see(n, 7, 7, program);
	for (i = 0; i < 3; i++)
		thread_namer_see(n, 8, 8, program);
	thread_namer_see(n, 8, 8, shell);
	for (i = 0; i < 1000; i++)
		thread_namer_see(n, 9, 9, shell);
	for (i = 0; i < 8; i++)
		thread_namer_see(n, 9, 9, program);
	thread_namer_finish(n);
	session_names_read(names, dir);
	CHECK_STR(session_names_thread(names, 7, 7), "program");
	CHECK_STR(session_names_thread(names, 8, 8), "program");
	CHECK_STR(session_names_thread(names, 9, 9), "program");
	thread_namer_free(n);
}

/* The bytes that this thread has written; -1: the kernel does not count them. */
static int64_t written_here(void)
{
	_cleanup_free_ char *text = NULL;
	const char *at = path_read(NULL, "/proc/thread-self/io", &text, NULL) > 0
				 ? strstr(text, "wchar: ")
				 : NULL;

	return at ? strtoll(at + strlen("wchar: "), NULL, 10) : -1;
}

/* A disk that is slow must not hold the thread that drains. */
static void another_thread_writes(void)
{
	static const char worker[] = "worker";
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "threads"), *text = NULL;
	struct thread_namer *n = thread_namer_new(dir);
	int64_t before = written_here();
	int i;

	for (i = 0; i < 1000; i++)
		thread_namer_see(n, 7, 1000 + i, worker);
	thread_namer_finish(n);
	CHECK(path_read(NULL, path, &text, NULL) > 10000);
	CHECK(written_here() - before < 100); /* to wake the other thread takes some */
	thread_namer_free(n);
}

/* A dump asks so until all names are in the file, also those that come during a write. */
static void it_is_busy_until_all_is_written(void)
{
	static const char worker[] = "worker", other[] = "other";
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "threads"), *text = NULL;
	struct thread_namer *n = thread_namer_new(dir);

	thread_namer_see(n, 7, 8, worker);
	thread_namer_write(n);
	thread_namer_see(n, 7, 9, other);
	while (thread_namer_is_busy(n))
		thread_namer_write(n);
	CHECK(path_read(NULL, path, &text, NULL) > 0);
	CHECK_STR(text, "7.8\tworker\n7.9\tother\n");
	thread_namer_free(n);
}

TESTS(T(it_is_busy_until_all_is_written), T(names_are_kept), T(another_thread_writes),
      T(most_samples_have_the_name), T(names_do_not_go_to_the_next_session),
      T(names_are_written_again_in_a_new_file))
