/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/internal/host_path.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/path.h"
#include "identity/internal/cookie_handle.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Whether @path leads to the file. */
static bool is_at(const struct host_file *f, const char *path)
{
	struct stat st;

	return path_is_absolute(path) && stat(path, &st) == 0 && st.st_dev == f->st->st_dev &&
	       st.st_ino == f->st->st_ino;
}

/* What the kernel calls the file that is open, if that is true here; or NULL. */
static char *path_of_open(const struct host_file *f, int fd)
{
	_cleanup_free_ char *link = xasprintf("/proc/self/fd/%d", fd);
	char path[PATH_MAX];
	ssize_t n = readlink(link, path, sizeof(path) - 1);

	if (n <= 0)
		return NULL;
	path[n] = '\0';
	return is_at(f, path) ? xstrdup(path) : NULL;
}

/* By its inode, in a mount of that file system that we have; or NULL. */
static char *path_of_inode(const struct host_file *f)
{
	_cleanup_close_ int fd = cookie_handle_open(f->image);

	return fd < 0 ? NULL : path_of_open(f, fd);
}

/* --- overlays --- */

/* A mount as the process has it, from a line of its mountinfo. */
struct overlay {
	char *root, *point, *options;
};

static void overlay_done(struct overlay *o)
{
	free(o->root);
	free(o->point);
	free(o->options);
}

static bool read_overlay(const char *line, dev_t device, struct overlay *ret)
{
	const char *rest = strstr(line, " - overlay ");
	unsigned int major, minor;

	return rest &&
	       sscanf(line, "%*u %*u %u:%u %ms %ms", &major, &minor, &ret->root, &ret->point) ==
		       4 &&
	       sscanf(rest, " - overlay %*s %ms", &ret->options) == 1 &&
	       makedev(major, minor) == device;
}

static bool find_overlay(const struct host_file *f, struct overlay *ret)
{
	_cleanup_free_ char *path = xasprintf("/proc/%u/mountinfo", f->tgid);
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	_cleanup_free_ char *line = NULL;
	size_t room = 0;

	while (file && xgetline(&line, &room, file) > 0) {
		*ret = (struct overlay){ 0 };
		if (read_overlay(line, f->st->st_dev, ret))
			return true;
		overlay_done(ret);
	}
	*ret = (struct overlay){ 0 };
	return false;
}

/* A file in the layers: where it would be, and the answer. */
struct layers {
	const struct host_file *file;
	const char *below; /* the layer's directory */
	char *found;
};

/* A file keeps size and time on its way up. */
static int try_layer(const char *directory, void *data)
{
	struct layers *l = data;
	_cleanup_free_ char *path = path_join(directory, l->below);
	const struct stat *want = l->file->st;
	struct stat st;

	if (!path_is_absolute(directory) || stat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size != want->st_size || st.st_mtime != want->st_mtime)
		return 0;
	l->found = STEAL(path);
	return 1;
}

/* Layers stand in the options as upperdir=DIR and lowerdir=DIR:DIR. */
static int try_option(const char *option, void *data)
{
	if (!strncmp(option, "upperdir=", 9))
		return try_layer(option + 9, data);
	if (!strncmp(option, "lowerdir=", 9))
		return parse_list(option + 9, ':', try_layer, data);
	return 0;
}

/* In the layer that it came from; or NULL. */
static char *path_in_layer(const struct host_file *f)
{
	_cleanup_(overlay_done) struct overlay o = { 0 };
	_cleanup_free_ char *below = NULL;
	struct layers layers = { .file = f };
	const char *rest = f->image->path;
	size_t length;

	if (!f->tgid || !find_overlay(f, &o))
		return NULL;
	length = strcmp(o.point, "/") ? strlen(o.point) : 0;
	if (strncmp(rest, o.point, length) != 0 || rest[length] != '/')
		return NULL;
	below = path_join(o.root, rest + length + 1);
	layers.below = below + strspn(below, "/");
	(void)parse_list(o.options, ',', try_option, &layers);
	return layers.found;
}

char *host_path(const struct host_file *f)
{
	char *path;

	if (!f->st->st_nlink || is_at(f, f->image->path))
		return NULL;
	path = path_of_open(f, f->fd);
	if (!path)
		path = path_of_inode(f);
	if (!path)
		path = path_in_layer(f);
	return path ?: xstrdup("");
}
