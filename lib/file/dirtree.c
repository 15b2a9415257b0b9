/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/dirtree.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>

enum {
	DIRECTORY = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
	DEPTH_MAX = 4096, /* more than PATH_MAX allows to those who use paths */
};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* --- opening --- */

/* As openat2() in dirtree_open(), for kernels and sandboxes without it: step by step. Other file
 * systems are entered, which only matters for walks, and those check it. */
static int open_by_steps(int at, const char *path)
{
	_cleanup_free_ char *copy = xstrdup(path);
	_cleanup_close_ int fd = -1;
	char *rest = copy, *step;

	while ((step = strsep(&rest, "/"))) {
		int next;

		if (!strcmp(step, ".."))
			return -ELOOP;
		if (rest && (!*step || !strcmp(step, ".")))
			continue;
		next = openat(fd < 0 ? at : fd, *step ? step : ".",
			      (rest ? O_PATH : O_RDONLY) | DIRECTORY);
		if (next < 0)
			return -errno;
		cleanup_closep(&fd);
		fd = next;
	}
	return STEAL_FD(fd);
}

/* Opens @path below @at; a descriptor or -errno. */
static int open_below(int at, const char *path)
{
	const struct open_how how = { .flags = O_RDONLY | DIRECTORY,
				      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
						 RESOLVE_NO_XDEV };
	int fd = (int)syscall(SYS_openat2, at, path, &how, sizeof(how));

	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return open_by_steps(at, path);
	return fd < 0 ? -errno : fd;
}

int dirtree_open(int at, const char *path, struct error *err)
{
	int fd = open_below(at, path);

	if (fd == -ELOOP || fd == -ENOTDIR)
		return error_set(err, fd, "%s: not a directory, or reached by a symbolic link",
				 path);
	return fd < 0 ? error_errno(err, fd, "%s", path) : fd;
}

/* --- names --- */

int dirtree_names(int fd, struct strbuf *names)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	DIR *dir = own >= 0 ? fdopendir(own) : NULL;
	const struct dirent *d;
	int r;

	if (!dir) {
		r = -errno;
		cleanup_closep(&own);
		return r;
	}
	while ((errno = 0, d = readdir(dir)))
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			strbuf_add(names, d->d_name, strlen(d->d_name) + 1);
	r = -errno;
	(void)closedir(dir);
	return r;
}

int dirtree_names_of(const char *path, struct strbuf *names)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | DIRECTORY);

	return fd < 0 ? -errno : dirtree_names(fd, names);
}

const char *dirtree_next_name(const struct strbuf *names, size_t *at)
{
	const char *name = *at < names->length ? names->text + *at : NULL;

	if (name)
		*at += strlen(name) + 1;
	return name;
}

/* --- walking --- */

/* A directory whose contents are being visited. */
struct level {
	struct stat st;
	struct strbuf names; /* those to visit, each with its NUL */
	size_t next;
	size_t path_length; /* of the directory's own path */
};

struct walk {
	int at;		 /* where the walk starts */
	int fd;		 /* the directory of the last level */
	const char *top; /* its name */
	struct level *levels;
	size_t depth, room;
	struct strbuf path;
	int (*each)(const struct dirtree_visit *visit, void *data);
	void *data;
	struct error *err;
};

static void walk_done(struct walk *w)
{
	while (w->depth)
		strbuf_done(&w->levels[--w->depth].names);
	free(w->levels);
	strbuf_done(&w->path);
	cleanup_closep(&w->fd);
}

static int fail(const struct walk *w, int r)
{
	return error_errno(w->err, r, "%s", strbuf_text(&w->path));
}

/* Goes into the directory @name, whose path is w->path. 0, or -errno. */
static int enter(struct walk *w, int from, const char *name)
{
	_cleanup_close_ int fd = openat(from, name, O_RDONLY | DIRECTORY);
	struct level level = { .path_length = w->path.length };
	int r;

	if (fd < 0 || fstat(fd, &level.st) < 0)
		return -errno;
	if (w->depth == DEPTH_MAX)
		return -ELOOP;
	r = w->depth && level.st.st_dev != w->levels[0].st.st_dev ? 0
								  : dirtree_names(fd, &level.names);
	if (r < 0) {
		strbuf_done(&level.names);
		return r;
	}
	array_grow(&w->levels, w->depth + 1, &w->room);
	w->levels[w->depth++] = level;
	cleanup_closep(&w->fd);
	w->fd = STEAL_FD(fd);
	return 0;
}

/* Goes back to the parent of the last level, which must be where it was: somebody may have moved
 * the directory. */
static int go_up(struct walk *w)
{
	const struct stat *parent = &w->levels[w->depth - 1].st;
	struct stat st;
	int up = openat(w->fd, "..", O_PATH | DIRECTORY);

	cleanup_closep(&w->fd);
	w->fd = up;
	if (up < 0 || fstat(up, &st) < 0)
		return -errno;
	return st.st_dev == parent->st_dev && st.st_ino == parent->st_ino ? 0 : -ESTALE;
}

/* Leaves the last level, and visits its directory. */
static int leave(struct walk *w)
{
	struct level *level = &w->levels[--w->depth];
	struct dirtree_visit visit = { .st = level->st };
	int r = 0;

	strbuf_done(&level->names);
	strbuf_cut(&w->path, level->path_length);
	if (w->depth)
		r = go_up(w);
	if (r < 0)
		return fail(w, r);
	visit.directory = w->depth ? w->fd : w->at;
	visit.path = strbuf_text(&w->path);
	visit.name = w->depth ? last_part(visit.path) : w->top;
	return w->each(&visit, w->data);
}

/* Visits @name in @directory: enters a directory, which is visited when it is left. */
static int visit_one(struct walk *w, int directory, const char *name)
{
	struct dirtree_visit visit = { .directory = directory,
				       .name = name,
				       .path = strbuf_text(&w->path) };

	if (fstatat(directory, name, &visit.st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT && w->depth ? 0 : fail(w, -errno);
	if (S_ISDIR(visit.st.st_mode)) {
		visit.error = enter(w, directory, name);
		if (visit.error == 0 || (visit.error == -ENOENT && w->depth))
			return 0;
	}
	return w->each(&visit, w->data);
}

static int visit_next(struct walk *w)
{
	struct level *level = &w->levels[w->depth - 1];
	const char *name = level->names.text + level->next;

	level->next += strlen(name) + 1;
	strbuf_cut(&w->path, level->path_length);
	strbuf_addf(&w->path, "/%s", name);
	return visit_one(w, w->fd, name);
}

int dirtree_walk(int at, const char *name,
		 int (*each)(const struct dirtree_visit *visit, void *data), void *data,
		 struct error *err)
{
	_cleanup_(walk_done) struct walk w = {
		.at = at, .fd = -1, .top = name, .each = each, .data = data, .err = err
	};
	int r;

	strbuf_adds(&w.path, name);
	r = visit_one(&w, at, name);
	while (r == 0 && w.depth) {
		const struct level *level = &w.levels[w.depth - 1];

		r = level->next < level->names.length ? visit_next(&w) : leave(&w);
	}
	return r;
}

/* --- changing --- */

static int remove_one(const struct dirtree_visit *v, void *data)
{
	int flags = S_ISDIR(v->st.st_mode) ? AT_REMOVEDIR : 0;

	if (v->error)
		return error_errno(data, v->error, "%s", v->path);
	if (unlinkat(v->directory, v->name, flags) == 0 || errno == ENOENT)
		return 0;
	return error_errno(data, -errno, "cannot remove %s", v->path);
}

void dirtree_remove_empty(const struct dirtree_visit *visit)
{
	(void)unlinkat(visit->directory, visit->name, AT_REMOVEDIR);
}

int dirtree_remove(int at, const char *name, struct error *err)
{
	struct error why = ERROR_INIT;
	int r = dirtree_walk(at, name, remove_one, &why, &why);

	return r == 0 || r == -ENOENT ? 0 : error_set(err, r, "%s", why.text);
}

/* Splits @path; opens its directory, a descriptor or -errno. The last part is *@ret_name. */
static int open_parent(int at, const char *path, const char **ret_name, struct error *err)
{
	size_t length = (size_t)(last_part(path) - path);
	_cleanup_free_ char *parent = xstrndup(path, length);

	while (length && parent[length - 1] == '/')
		parent[--length] = '\0';
	*ret_name = last_part(path);
	return dirtree_open(at, length ? parent : ".", err);
}

int dirtree_make_parents(int at, const char *path, mode_t mode, struct error *err)
{
	const char *slash = path;

	while ((slash = strchr(slash, '/'))) {
		_cleanup_free_ char *directory = xstrndup(path, (size_t)(slash++ - path));
		const char *name;
		_cleanup_close_ int parent = open_parent(at, directory, &name, err);

		if (parent < 0)
			return parent;
		if (mkdirat(parent, name, mode) < 0 && errno != EEXIST)
			return error_errno(err, -errno, "cannot create the directory %s",
					   directory);
	}
	return 0;
}

int dirtree_rename(int at, const char *from, const char *to, struct error *err)
{
	const char *old, *new;
	_cleanup_close_ int source = open_parent(at, from, &old, err);
	_cleanup_close_ int target = source < 0 ? -1 : open_parent(at, to, &new, err);

	if (source < 0 || target < 0)
		return MIN(source, target);
	if (renameat2(source, old, target, new, RENAME_NOREPLACE) < 0)
		return error_errno(err, -errno, "cannot rename %s to %s", from, to);
	return 0;
}
