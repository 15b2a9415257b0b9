/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static void print_section(void *data, FILE *out)
{
	(void)fprintf(out, "-- %s --\n", (const char *)data);
}

static void lines_are_dated_and_cannot_forge_others(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "samples/oprofiled.log"), *old = NULL;
	_cleanup_free_ char *moved = path_join(dir, "moved"), *text = NULL;
	struct error err = ERROR_INIT;
	int year, length;

	CHECK_EQ(logfile_open(dir, LOG_LEVEL_INFO, false, &err), 0);
	log_info("one\n2000-01-01 00:00:00 two");
	log_debug("not wanted");
	CHECK_EQ(path_read(NULL, path, &text, &err), 67 - 19);
	CHECK_EQ(sscanf(text, "%4d-%*2d-%*2d %*2d:%*2d:%*2d %n", &year, &length), 1);
	CHECK_STR(text + length, "one?2000-01-01 00:00:00 two\n");

	CHECK_EQ(rename(path, moved), 0);
	log_info("still to the old one");
	logfile_reopen();
	logfile_section(print_section, (void *)"statistics");
	free(STEAL(text));
	CHECK(path_read(NULL, path, &text, &err) > 0);
	CHECK(strstr(text, "\n-- statistics --\n") && !strstr(text, "old one"));
	CHECK(path_read(NULL, moved, &old, &err) > 0);
	CHECK(strstr(old, "still to the old one"));
	log_to(LOG_LEVEL_ERROR, NULL, NULL);
}

static void a_long_log_begins_again(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "samples/oprofiled.log"), *text = NULL;
	_cleanup_free_ char *last = path_join(dir, "samples/oprofiled.log.1");
	_cleanup_free_ char *line = xcalloc(1001, 1);
	struct error err = ERROR_INIT;
	struct stat st;
	size_t i;

	memset(line, 'x', 1000);
	CHECK_EQ(logfile_open(dir, LOG_LEVEL_INFO, false, &err), 0);
	for (i = 0; i < 3 * LOGFILE_BYTES_MAX / 1000; i++)
		log_info("%s", line);
	log_info("the end");
	CHECK(stat(path, &st) == 0 && st.st_size < LOGFILE_BYTES_MAX);
	CHECK(path_read(NULL, path, &text, &err) > 0 && strstr(text, "the end\n"));
	CHECK(stat(last, &st) == 0 && st.st_size < LOGFILE_BYTES_MAX + 2000);
	log_to(LOG_LEVEL_ERROR, NULL, NULL);
}

static void link_in_its_place_is_not_followed(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = path_join(dir, "samples");
	_cleanup_free_ char *path = path_join(samples, "oprofiled.log");
	_cleanup_free_ char *victim = path_join(dir, "victim");
	struct error err = ERROR_INIT;

	CHECK_EQ(path_make_dirs(samples, 0755, &err), 0);
	CHECK_EQ(symlink(victim, path), 0);
	CHECK_EQ(logfile_open(dir, LOG_LEVEL_INFO, false, &err), -ELOOP);
	CHECK(access(victim, F_OK) < 0);
}

enum { LINES = 12000 }; /* more than may wait */

struct slow_disk {
	int fd;
	size_t lines;
	atomic_size_t missing;
};

/* Reads what was logged, until nobody can write any more. */
static void *read_all(void *data)
{
	struct slow_disk *disk = data;
	_cleanup_fclose_ FILE *in = fdopen(disk->fd, "r");
	_cleanup_free_ char *line = NULL;
	size_t room = 0;

	while (in && getline(&line, &room, in) > 0)
		if (strstr(line, " lines are missing here"))
			disk->missing = strtoul(line, NULL, 10);
		else
			disk->lines++;
	return NULL;
}

/* Logs more than a disk takes. It answers when all was logged; then the log @ends at once. */
static void log_on_a_slow_disk(bool ends)
{
	static const struct timespec pause = { .tv_nsec = 1000000 };
	_cleanup_directory_ char *dir = test_directory();
	int next = dup(STDIN_FILENO), fds[2];
	struct error err = ERROR_INIT;
	struct slow_disk disk = { 0 };
	size_t logged = LINES;
	pthread_t reader;

	(void)close(next); /* the log gets this one */
	CHECK_EQ(logfile_open(dir, LOG_LEVEL_INFO, false, &err), 0);
	CHECK(pipe(fds) == 0 && dup2(fds[1], next) == next);
	(void)close(fds[1]);
	CHECK_EQ(logfile_begin_thread(&err), 0);
	for (size_t i = 0; i < LINES; i++)
		log_info("a line that fills the pipe when it comes so often");
	(void)logfile_settle(20);
	disk.fd = fds[0];
	CHECK_EQ(pthread_create(&reader, NULL, read_all, &disk), 0);
	for (; !ends && !disk.missing; logged++) {
		log_info("another line");
		(void)nanosleep(&pause, NULL);
	}
	logfile_end_thread();
	CHECK_EQ(logfile_open(dir, LOG_LEVEL_INFO, false, &err), 0); /* closes the pipe */
	CHECK_EQ(pthread_join(reader, NULL), 0);
	CHECK(disk.missing > 0 && disk.missing < LINES);
	CHECK_EQ(disk.lines + disk.missing, logged);
	log_to(LOG_LEVEL_ERROR, NULL, NULL);
}

static void nobody_waits_for_a_disk(void)
{
	log_on_a_slow_disk(false);
}

static void lines_that_are_dropped_at_the_end_are_counted(void)
{
	log_on_a_slow_disk(true);
}

TESTS(T(lines_are_dated_and_cannot_forge_others), T(a_long_log_begins_again),
      T(link_in_its_place_is_not_followed), T(nobody_waits_for_a_disk),
      T(lines_that_are_dropped_at_the_end_are_counted))
