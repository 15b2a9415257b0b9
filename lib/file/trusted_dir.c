/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/trusted_dir.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LINKS_MAX = 40,	  /* as the kernel has it */
	UNMAPPED = 65534, /* default of kernel.overflowuid */
	DIRECTORY = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

struct walk {
	const struct dir_trust *who;
	mode_t mode; /* of the directory itself */
	bool owner_may_be_unknown;
	int fd;		  /* where the walk is */
	struct strbuf at; /* its path, without a slash at the end */
	char *rest;	  /* what is to come */
	unsigned int links;
	struct error *err;
};

static void walk_done(struct walk *w)
{
	cleanup_closep(&w->fd);
	strbuf_done(&w->at);
	free(w->rest);
}

/* Returns whether this is a user namespace that maps only some users. */
static bool has_unknown_owners(void)
{
	_cleanup_free_ char *map = NULL;

	return path_read("", "/proc/self/uid_map", &map, NULL) >= 0 && !strstr(map, " 4294967295");
}

static bool trusts_uid(const struct walk *w, uid_t uid)
{
	return uid == 0 || uid == w->who->uid || (w->owner_may_be_unknown && uid == UNMAPPED);
}

static int refuse(const struct walk *w, const char *name, const char *problem, unsigned int id)
{
	return error_set(w->err, -EPERM,
			 "%s%s%s: %s %u, who could redirect root's writes; use another "
			 "--session-dir",
			 strbuf_text(&w->at), *name || !w->at.length ? "/" : "", name, problem, id);
}

/* Checks the directory where the walk is. */
static int check(const struct walk *w)
{
	struct stat st;

	if (fstat(w->fd, &st) < 0)
		return error_errno(w->err, -errno, "%s", strbuf_text(&w->at));
	if (!trusts_uid(w, st.st_uid))
		return refuse(w, "", "belongs to uid", st.st_uid);
	if (st.st_mode & S_ISVTX)
		return 0;
	if (st.st_mode & S_IWOTH)
		return error_set(w->err, -EPERM,
				 "%s: can be written by others, who could redirect root's writes; "
				 "chmod o-w it, or use another --session-dir",
				 strbuf_text(&w->at));
	if (st.st_mode & S_IWGRP && st.st_gid != 0 && st.st_gid != w->who->gid)
		return refuse(w, "", "can be written by group", st.st_gid);
	return 0;
}

static int start_at_root(struct walk *w)
{
	cleanup_closep(&w->fd);
	strbuf_cut(&w->at, 0);
	w->fd = open("/", DIRECTORY);
	return w->fd < 0 ? error_errno(w->err, -errno, "/") : 0;
}

/* Puts the target of the link @name before the rest of the path. */
static int follow(struct walk *w, const char *name)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(w->fd, name, target, sizeof(target));
	char *rest;

	if (length < 0 || (size_t)length == sizeof(target) || ++w->links > LINKS_MAX)
		return error_errno(w->err, length < 0 ? -errno : -ELOOP, "%s/%s",
				   strbuf_text(&w->at), name);
	rest = xasprintf("%.*s/%s", (int)length, target, w->rest);
	free(w->rest);
	w->rest = rest;
	return target[0] == '/' ? start_at_root(w) : 0;
}

/* Goes into the directory @name, or to where a link of that name leads. */
static int step(struct walk *w, const char *name)
{
	struct stat st;
	int next, r = fstatat(w->fd, name, &st, AT_SYMLINK_NOFOLLOW);

	if (r < 0 && errno == ENOENT) {
		r = mkdirat(w->fd, name, w->rest[strspn(w->rest, "/")] ? 0755 : w->mode);
		if (r == 0 || errno == EEXIST)
			r = fstatat(w->fd, name, &st, AT_SYMLINK_NOFOLLOW);
	}
	if (r < 0)
		return error_errno(w->err, -errno, "%s/%s", strbuf_text(&w->at), name);
	if (S_ISLNK(st.st_mode))
		return trusts_uid(w, st.st_uid) ? follow(w, name)
						: refuse(w, name, "belongs to uid", st.st_uid);
	next = openat(w->fd, name, DIRECTORY);
	strbuf_addf(&w->at, "/%s", name);
	if (next < 0)
		return error_errno(w->err, -errno, "%s", strbuf_text(&w->at));
	cleanup_closep(&w->fd);
	w->fd = next;
	return 0;
}

/* Takes the next name off the rest of the path; caller frees; NULL at the end. */
static char *next_name(struct walk *w)
{
	char *name = w->rest + strspn(w->rest, "/");
	size_t length = strcspn(name, "/");
	char *ret = length ? xstrndup(name, length) : NULL;

	memmove(w->rest, name + length, strlen(name + length) + 1);
	return ret;
}

int trusted_dir_open(const char *path, mode_t mode, const struct dir_trust *who, struct error *err)
{
	_cleanup_(walk_done) struct walk w = {
		.who = who,
		.mode = mode,
		.owner_may_be_unknown = has_unknown_owners(),
		.fd = -1,
		.rest = path_absolute(path),
		.err = err,
	};
	bool more = true;
	int r = path_is_absolute(w.rest)
			? start_at_root(&w)
			: error_set(err, -ENOENT, "%s: the current directory was removed", path);

	while (r == 0 && more) {
		_cleanup_free_ char *name = next_name(&w);

		more = name;
		if (more || who->last_too)
			r = check(&w);
		if (r == 0 && more)
			r = step(&w, name);
	}
	if (r < 0)
		return r;
	r = openat(w.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return r < 0 ? error_errno(err, -errno, "%s", path) : r;
}
