/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Renaming and removing sessions. */
#include "sfile/session.h"

#include "base/log.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "file/dirtree.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a session is called while it is removed, with a number. It is no valid name of one. */
#define ASIDE ".removed."
enum { ASIDE_MOST = 1000 };

static bool is_aside(const char *name)
{
	return !strncmp(name, ASIDE, strlen(ASIDE));
}

/* Opens the directory of all sessions, which must not be a link. A descriptor or -errno. */
static int open_sessions(const char *session_dir, struct error *err)
{
	_cleanup_close_ int dir = open(session_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct error why = ERROR_INIT;
	int fd;

	if (dir < 0)
		return error_errno(err, -errno, "%s", session_dir);
	fd = dirtree_open(dir, "samples", &why);
	return fd < 0 ? error_set(err, fd, "%s/%s", session_dir, why.text) : fd;
}

int session_rename(const char *session_dir, const char *from, const char *to, struct error *err)
{
	_cleanup_close_ int samples = -1;
	struct error why = ERROR_INIT;
	int r;

	if (session_name_check(from, err) < 0 || session_name_check(to, err) < 0)
		return -EINVAL;
	samples = open_sessions(session_dir, err);
	if (samples < 0)
		return samples;
	r = dirtree_rename(samples, from, to, &why);
	if (r == 0)
		(void)fsync(samples); /* where that fails, it takes a little longer */
	if (r == -EEXIST)
		return error_set(err, r, "session '%s' already exists in %s", to, session_dir);
	return r < 0 ? error_set(err, r, "%s: %s", session_dir, why.text) : 0;
}

/* Removes what is in the directory of all sessions. 0 or -errno. */
static int remove_below(int samples, const char *name, struct error *err)
{
	int tries = 10, r;

	/* Who rolls its history up may create a file meanwhile. */
	do
		r = dirtree_remove(samples, name, err);
	while (r == -ENOTEMPTY && --tries > 0);
	return r;
}

/* Gives the session a name that is none. 0 or -errno. */
static int rename_aside(int samples, const char *name)
{
	char aside[32];
	int i, r = -EEXIST;

	for (i = 0; r == -EEXIST && i < ASIDE_MOST; i++) {
		(void)snprintf(aside, sizeof(aside), ASIDE "%d", i);
		r = dirtree_rename(samples, name, aside, NULL);
	}
	if (r == 0)
		(void)fsync(samples);
	return r;
}

int session_set_aside(const char *session_dir, const char *name, struct error *err)
{
	_cleanup_close_ int samples = -1;
	struct error why = ERROR_INIT;
	int r;

	if (session_name_check(name, err) < 0)
		return -EINVAL;
	samples = open_sessions(session_dir, err);
	if (samples < 0)
		return samples == -ENOENT ? 0 : samples;
	r = rename_aside(samples, name);
	/* It cannot be renamed where it is a file system of its own. */
	if (r < 0 && r != -ENOENT)
		r = remove_below(samples, name, &why);
	return r < 0 && r != -ENOENT ? error_set(err, r, "%s: %s", session_dir, why.text) : 0;
}

int session_clear(const char *session_dir, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	_cleanup_close_ int samples = open_sessions(session_dir, err);
	const char *name;
	size_t at = 0;
	int r;

	if (samples < 0)
		return samples == -ENOENT ? 0 : samples;
	r = dirtree_names(samples, &names);
	if (r < 0)
		return error_errno(err, r, "%s/samples", session_dir);
	while ((name = dirtree_next_name(&names, &at))) {
		struct error why = ERROR_INIT;
		int here = is_aside(name) ? remove_below(samples, name, &why) : 0;

		if (here < 0)
			r = error_set(err, here, "%s: %s", session_dir, why.text);
	}
	return r;
}

int session_remove(const char *session_dir, const char *name, struct error *err)
{
	struct error why = ERROR_INIT;
	int r = session_set_aside(session_dir, name, err);

	if (r == 0 && session_clear(session_dir, &why) < 0)
		log_warn("%s; some of a removed session is left", why.text);
	return r;
}

uint64_t session_aside_bytes(const char *session_dir, bool (*goes_on)(const void *data),
			     const void *data)
{
	_cleanup_free_ char *samples = path_join(session_dir, "samples");
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	uint64_t bytes = 0;
	const char *name;
	size_t at = 0;

	(void)dirtree_names_of(samples, &names);
	while ((name = dirtree_next_name(&names, &at))) {
		_cleanup_free_ char *path = path_join(samples, name);

		if (is_aside(name))
			bytes += path_disk_bytes(path, goes_on, data);
	}
	return bytes;
}
