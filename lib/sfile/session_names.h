/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names that containers and threads had when they were sampled: the files containers and
 * threads of samples/NAME (man opsample.5). The path of a container's cgroup has only its id, and
 * the names of sample files only the numbers of threads; both have names only as long as they
 * exist.
 *
 *	session_names_add(SESSION_NAMES_CONTAINERS, samples, id, "web-1", err);
 *	...
 *	struct session_names *n = session_names_new();
 *	session_names_read(n, samples);
 *	name = session_names_container(n, session_names_id("/system.slice/docker-0a1b....scope"));
 *	session_names_free(n);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"

#include <stdint.h>

struct session_names;
struct strbuf;

/* Whose names a file has, and by which key. */
enum session_names_kind {
	SESSION_NAMES_CONTAINERS, /* the id, SESSION_NAMES_ID hexadecimal digits */
	SESSION_NAMES_THREADS,	  /* "TGID.TID", in decimal digits */
	SESSION_NAMES_COUNT_
};

/* The digits of a container's id. */
enum { SESSION_NAMES_ID = 64 };

/* Returns the first container's id in the path of a cgroup, which begins a part of it or follows a
 * dash, within @path; NULL if there is none. */
const char *session_names_id(const char *path);

/* Adds the line of a name to those for a file. */
void session_names_line(struct strbuf *lines, const char *key, const char *name);
/* Appends lines to a file of the session in @samples; the last one of a key counts. A file of more
 * than 8 MiB is set aside first, as FILE.old: then returns 1, and the caller adds the names again
 * that it still needs, because the next time this is gone. Else 0 or -errno. */
int session_names_append(enum session_names_kind kind, const char *samples,
			 const struct strbuf *lines, struct error *err);
/* Appends one line. 0 or -errno. */
int session_names_add(enum session_names_kind kind, const char *samples, const char *key,
		      const char *name, struct error *err);

/* No names. Caller frees. */
struct session_names *session_names_new(void);
/* Adds those of the session in @samples that no session read before has: numbers of threads are
 * used again. If @n is NULL, does nothing. Lines that are damaged are skipped, and logged. */
void session_names_read(struct session_names *n, const char *samples);
/* The name of the container whose id @id begins with, borrowed; NULL if it is not known, or @n or
 * @id is NULL. */
const char *session_names_container(const struct session_names *n, const char *id);
/* The same of a thread; if @tid is negative, of the process @tgid, by that of its first thread. */
const char *session_names_thread(const struct session_names *n, int64_t tgid, int64_t tid);
/* NULL is fine. */
void session_names_free(struct session_names *n);
DEFINE_CLEANUP(struct session_names *, session_names_free);
