/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "logfile.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "helper/errands.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* How long the last lines are waited for. */
static const uint64_t settle_ns = 20000000;
enum { TIME_ROOM = 32 };

static struct {
	char *path;
	FILE *file;
	atomic_int fd;		 /* of it, or 0; always an open one */
	bool stderr_is_log;	 /* detached, in the background */
	bool echo;		 /* every line to stderr, too */
	struct errands *errands; /* of the thread that writes; NULL: who logs does */
	uint64_t number;	 /* of the last errand */
	bool is_late;		 /* that thread was, since it had nothing to do */
	uint64_t since_ns;	 /* it is waited for; 0: it is not */
	size_t dropped;		 /* lines since one was taken */
} logfile;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of who adds a line */

/* What is to be written; without a text, the file is to be opened again. */
struct writing {
	struct errand errand;
	char *text;
};

/* "2026-11-20 19:16:02" */
static const char *format_time(char text[static TIME_ROOM])
{
	time_t now = time(NULL);
	struct tm tm;

	*text = '\0';
	if (localtime_r(&now, &tm))
		(void)strftime(text, TIME_ROOM, "%F %T", &tm);
	return text;
}

static int open_file(struct error *err)
{
	int fd = open_regular_or_create(logfile.path, O_WRONLY | O_APPEND, 0644);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "a");

	if (!file)
		return error_set(err, fd < 0 ? fd : -errno, "cannot open the log %s: %s",
				 logfile.path, open_regular_why(fd < 0 ? fd : -errno));
	logfile.fd = fd; /* for a signal handler, before the last one is closed */
	if (logfile.file)
		(void)fclose(logfile.file);
	logfile.file = file;
	if (logfile.stderr_is_log)
		(void)dup2(fd, STDERR_FILENO);
	return 0;
}

/* Begins a new log if this one is long; the last one is kept next to it. */
static void turn_over(void)
{
	_cleanup_free_ char *last = NULL;

	if (ftello(logfile.file) < LOGFILE_BYTES_MAX)
		return;
	last = xasprintf("%s.1", logfile.path);
	/* If this fails, the log only gets longer. It can be lost in a crash. */
	if (rename(logfile.path, last) == 0)
		(void)open_file(NULL);
}

/* Makes the log again if it was removed: nobody could read what is written to it. */
static void renew(void)
{
	struct stat st;

	if (fstat(fileno(logfile.file), &st) == 0 && st.st_nlink == 0 &&
	    path_make_parents(logfile.path, 0755, NULL) == 0)
		(void)open_file(NULL);
}

/* Writes a text. A full disk must not stop the daemon: what does not fit is dropped. */
static void put(const char *text)
{
	renew();
	(void)fputs(text, logfile.file);
	(void)fflush(logfile.file);
	clearerr(logfile.file);
	turn_over();
}

static void drop(struct errand *e)
{
	struct writing *w = (struct writing *)e;

	free(w->text);
	free(w);
}

static void run(struct errand *e)
{
	struct error err = ERROR_INIT;
	char now[TIME_ROOM];

	if (((struct writing *)e)->text) {
		put(((struct writing *)e)->text);
	} else if (open_file(&err) < 0) {
		_cleanup_free_ char *text = xasprintf("%s %s%s\n", format_time(now),
						      log_prefix(LOG_LEVEL_ERROR), err.text);

		put(text);
	}
}

/* Has @text written, which is freed, or the file opened again. */
static void have_done(char *text)
{
	struct writing *w = xcalloc(1, sizeof(*w));
	struct errand *done;
	uint64_t number;

	*w = (struct writing){ { .run = run, .drop = drop }, text };
	if (!logfile.errands) {
		run(&w->errand);
		drop(&w->errand);
		return;
	}
	while ((done = errands_take(logfile.errands)))
		drop(done);
	number = errands_add(logfile.errands, &w->errand);
	logfile.number = number ?: logfile.number;
	logfile.dropped += !number;
}

static void say_dropped(void)
{
	have_done(xasprintf("%zu %s missing here: the disk was too slow\n", logfile.dropped,
			    logfile.dropped == 1 ? "line is" : "lines are"));
	logfile.dropped = 0;
}

/* Adds a text, and before that, how many were dropped, if there is room again. */
static void add(char *text)
{
	(void)pthread_mutex_lock(&lock);
	if (logfile.dropped && errands_finished(logfile.errands) == logfile.number)
		say_dropped();
	have_done(text);
	(void)pthread_mutex_unlock(&lock);
}

static void log_to_file(enum log_level level, const char *text, void *data _unused_)
{
	_cleanup_free_ char *line = xstrdup(text);
	char now[TIME_ROOM];

	/* Some lines contain names of files and processes, which must not forge other lines. */
	for (unsigned char *at = (unsigned char *)line; *at; at++)
		if (*at < ' ' || *at == 0x7f)
			*at = '?';
	add(xasprintf("%s %s%s\n", format_time(now), log_prefix(level), line));
	if (logfile.echo || (!logfile.stderr_is_log && level <= LOG_LEVEL_WARNING))
		(void)fprintf(stderr, "oprofiled: %s%s\n", log_prefix(level), line);
}

void logfile_level(enum log_level level)
{
	log_to(level, log_to_file, NULL);
}

int logfile_open(const char *session_dir, enum log_level level, bool echo, struct error *err)
{
	int r;

	free(logfile.path);
	logfile.path = path_join(session_dir, "samples/oprofiled.log");
	r = path_make_parents(logfile.path, 0755, err);
	if (r == 0)
		r = open_file(err);
	logfile.echo = echo;
	if (r == 0)
		logfile_level(level);
	return r;
}

void logfile_detach(void)
{
	logfile.stderr_is_log = true;
	(void)dup2(fileno(logfile.file), STDERR_FILENO);
}

void logfile_reopen(void)
{
	(void)pthread_mutex_lock(&lock);
	have_done(NULL);
	(void)pthread_mutex_unlock(&lock);
}

int logfile_begin_thread(struct error *err)
{
	return errands_new(ERRANDS_FILES, &logfile.errands, err);
}

static uint64_t last_number(void)
{
	uint64_t number;

	(void)pthread_mutex_lock(&lock);
	number = logfile.number;
	(void)pthread_mutex_unlock(&lock);
	return number;
}

bool logfile_settle(int ms)
{
	if (!logfile.errands)
		return true;
	if (errands_wait(logfile.errands, last_number(), logfile.is_late ? 0 : ms)) {
		logfile.is_late = false;
		logfile.since_ns = 0;
		return true;
	}
	logfile.since_ns = logfile.since_ns ?: clock_now_ns();
	logfile.is_late |= clock_now_ns() - logfile.since_ns >= settle_ns;
	return logfile.is_late;
}

void logfile_end_thread(void)
{
	if (!logfile.errands)
		return;
	/* While the disk is waited for, others still have their lines written by the thread. */
	while (!errands_wait(logfile.errands, last_number(), INT_MAX))
		;
	(void)pthread_mutex_lock(&lock);
	while (!errands_wait(logfile.errands, logfile.number, INT_MAX))
		;
	errands_free(STEAL(logfile.errands));
	if (logfile.dropped)
		say_dropped();
	(void)pthread_mutex_unlock(&lock);
}

void logfile_section(void (*print)(void *data, FILE *out), void *data)
{
	char *text = NULL, now[TIME_ROOM];
	size_t size;
	FILE *out = xmemstream(&text, &size);

	(void)fprintf(out, "%s\n", format_time(now));
	print(data, out);
	xmemstream_close(out, &text);
	add(text);
}

void logfile_raw(const char *text)
{
	int fd = logfile.fd;

	if (fd > 0)
		(void)!write(fd, text, strlen(text));
	if (!logfile.stderr_is_log)
		(void)!write(STDERR_FILENO, text, strlen(text));
}
