/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "logfile.h"

#include "base/mem.h"
#include "base/parse.h"
#include "file/open_regular.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

static struct {
	char *path;
	FILE *file;
	bool stderr_is_log; /* detached, in the background */
	bool echo;	    /* every line to stderr, too */
} logfile;

/* "2026-11-20 19:16:02" */
static void print_time(FILE *out)
{
	time_t now = time(NULL);
	char text[32] = "";
	struct tm tm;

	if (localtime_r(&now, &tm))
		(void)strftime(text, sizeof(text), "%F %T", &tm);
	(void)fputs(text, out);
}

int logfile_reopen(struct error *err)
{
	int fd = open_regular_or_create(logfile.path, O_WRONLY | O_APPEND, 0644);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "a");

	if (!file)
		return error_set(err, fd < 0 ? fd : -errno, "cannot open the log %s: %s",
				 logfile.path, open_regular_why(fd < 0 ? fd : -errno));
	if (logfile.file)
		(void)fclose(logfile.file);
	logfile.file = file;
	if (logfile.stderr_is_log)
		(void)dup2(fd, STDERR_FILENO);
	return 0;
}

/* Ends what was written. A full disk must not stop the daemon: what does not fit is dropped. A long
 * log begins again, and the last one is kept next to it. */
static void finish(void)
{
	_cleanup_free_ char *last = NULL;

	(void)fflush(logfile.file);
	clearerr(logfile.file);
	if (ftello(logfile.file) < LOGFILE_BYTES_MAX)
		return;
	last = xasprintf("%s.1", logfile.path);
	/* If this fails, the log only gets longer. It can be lost in a crash. */
	if (rename(logfile.path, last) == 0)
		(void)logfile_reopen(NULL);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of who adds a line */

static void log_to_file(enum log_level level, const char *text, void *data _unused_)
{
	_cleanup_free_ char *line = xstrdup(text);

	/* Some lines contain names of files and processes, which must not forge other lines. */
	for (unsigned char *at = (unsigned char *)line; *at; at++)
		if (*at < ' ' || *at == 0x7f)
			*at = '?';
	(void)pthread_mutex_lock(&lock);
	print_time(logfile.file);
	(void)fprintf(logfile.file, " %s%s\n", log_prefix(level), line);
	finish();
	(void)pthread_mutex_unlock(&lock);
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
		r = logfile_reopen(err);
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

void logfile_section(void (*print)(void *data, FILE *out), void *data)
{
	(void)pthread_mutex_lock(&lock);
	print_time(logfile.file);
	(void)fputc('\n', logfile.file);
	print(data, logfile.file);
	finish();
	(void)pthread_mutex_unlock(&lock);
}

void logfile_raw(const char *text)
{
	if (logfile.file)
		(void)!write(fileno(logfile.file), text, strlen(text));
	if (!logfile.stderr_is_log)
		(void)!write(STDERR_FILENO, text, strlen(text));
}
