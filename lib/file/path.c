/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/path.h"

#include "base/log.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/dirtree.h"
#include "file/open_regular.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { READ_MAX = 16 << 20 };

char *path_join(const char *dir, const char *name)
{
	size_t length = strlen(dir);

	while (length && dir[length - 1] == '/')
		length--;
	while (*name == '/')
		name++;
	return xasprintf("%.*s/%s", (int)length, dir, name);
}

char *path_under(const char *root, const char *path)
{
	return root && *root ? path_join(root, path) : xstrdup(path);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool path_is_absolute(const char *path)
{
	return path[0] == '/';
}

bool path_stays_below(const char *path)
{
	const char *at;

	for (at = path; at; at = strchr(at + 1, '/')) {
		size_t length = strcspn(at + 1, "/");

		if (*at != '/' || (length == 1 && at[1] == '.') ||
		    (length == 2 && at[1] == '.' && at[2] == '.'))
			return false;
	}
	return true;
}

/* Removes "." and empty parts from a path, in place. ".." is kept, as it may follow a link. */
static void drop_dots(char *path)
{
	char *to = path, *from = path;

	while (*from) {
		size_t length = strcspn(from, "/");

		if (from > path && (length == 0 || (length == 1 && *from == '.'))) {
			from += length + (from[length] == '/');
			continue;
		}
		memmove(to, from, length);
		to += length;
		from += length;
		if (*from == '/')
			*to++ = *from++;
	}
	if (to > path + 1 && to[-1] == '/')
		to--;
	*to = '\0';
}

/* The start of the last of the names between @start and @end, each of which a slash follows. */
static char *last_name(const char *start, char *end)
{
	while (end > start + 1 && end[-2] != '/')
		end--;
	return end > start ? end - 1 : end;
}

void path_simplify(char *path)
{
	char *start = path + path_is_absolute(path), *to = start, *from = start;

	drop_dots(path);
	while (*from) {
		size_t length = strcspn(from, "/"), whole = length + (from[length] == '/');
		bool is_parent = length == 2 && !strncmp(from, "..", 2);
		char *last = last_name(start, to);

		if (is_parent && to > start && strncmp(last, "../", 3) != 0) {
			to = last;
		} else if (!is_parent || start == path) {
			memmove(to, from, whole);
			to += whole;
		}
		from += whole;
	}
	if (to > start && to[-1] == '/')
		to--;
	else if (to == path && *path)
		*to++ = '.';
	*to = '\0';
}

char *path_absolute(const char *path)
{
	_cleanup_free_ char *cwd = path_is_absolute(path) ? NULL : getcwd(NULL, 0);
	char *whole = cwd ? path_join(cwd, path) : xstrdup(path);

	drop_dots(whole);
	return whole;
}

/* Creates each directory of @path that ends before @end. */
static int make_dirs_until(const char *path, const char *end, mode_t mode, struct error *err)
{
	_cleanup_free_ char *dir = xstrndup(path, (size_t)(end - path));
	char *slash = dir;
	int r;

	do {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		r = mkdir(dir, mode) < 0 ? -errno : 0;
		if (r < 0 && r != -EEXIST)
			return error_errno(err, r, "cannot create the directory %s", dir);
		if (slash)
			*slash = '/';
	} while (slash);
	return 0;
}

int path_make_dirs(const char *path, mode_t mode, struct error *err)
{
	return make_dirs_until(path, path + strlen(path), mode, err);
}

/* Makes the directory @path, and its parents only if that fails: mostly they exist, and in a deep
 * tree a call for each would cost more. */
static bool make_last_first(char *path, mode_t mode)
{
	char *slash;

	if (mkdir(path, mode) == 0 || errno == EEXIST)
		return true;
	slash = strrchr(path, '/');
	if (errno != ENOENT || !slash || slash == path)
		return false;
	*slash = '\0';
	if (!make_last_first(path, mode))
		return false;
	*slash = '/';
	return mkdir(path, mode) == 0 || errno == EEXIST;
}

int path_make_parents(const char *path, mode_t mode, struct error *err)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *parent = slash ? xstrndup(path, (size_t)(slash - path)) : NULL;

	if (!slash || slash == path || make_last_first(parent, mode))
		return 0;
	return make_dirs_until(path, slash, mode, err);
}

int path_remove_tree(const char *path, struct error *err)
{
	return dirtree_remove(AT_FDCWD, path, err);
}

/* The bytes so far, and whether to go on. */
struct disk_walk {
	uint64_t bytes;
	bool (*goes_on)(const void *data); /* or NULL */
	const void *data;
};

static int add_blocks(const struct dirtree_visit *v, void *data)
{
	struct disk_walk *w = data;

	uint64_t links = S_ISDIR(v->st.st_mode) ? 1 : MAX((uint64_t)v->st.st_nlink, 1U);

	/* A block has 512 bytes, whatever the file system's have: stat(3type). */
	w->bytes += (uint64_t)v->st.st_blocks * 512 / links;
	return w->goes_on && !w->goes_on(w->data);
}

uint64_t path_disk_bytes(const char *path, bool (*goes_on)(const void *data), const void *data)
{
	struct disk_walk w = { .goes_on = goes_on, .data = data };

	/* What cannot be read is left out. */
	(void)dirtree_walk(AT_FDCWD, path, add_blocks, &w, NULL);
	return w.bytes;
}

/* Opens a regular file, or /dev/null instead of a link to it: administrators link a file there, and
 * containers mount it over files of /proc, where it is to be empty. A descriptor or -errno. */
static int open_text(const char *path)
{
	int fd = open_regular(path, O_RDONLY);
	struct stat st, null;

	if (fd != -EMEDIUMTYPE || stat(path, &st) < 0 || stat("/dev/null", &null) < 0 ||
	    !S_ISCHR(st.st_mode) || st.st_rdev != null.st_rdev)
		return fd;
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

FILE *path_fopen(const char *root, const char *path)
{
	_cleanup_free_ char *full = path_under(root, path);
	int fd = open_text(full);

	if (fd >= 0)
		return xfdopen(fd, "r");
	errno = -fd;
	return NULL;
}

ssize_t path_read(const char *root, const char *path, char **ret, struct error *err)
{
	_cleanup_free_ char *full = path_under(root, path);
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = open_text(full);
	size_t length = 0, room = 0;
	ssize_t n;

	if (fd < 0)
		return error_set(err, fd, "%s: %s", full, open_regular_why(fd));
	do {
		array_grow(&text, length + 4096, &room);
		n = read(fd, text + length, room - length - 1);
		if (n < 0)
			return error_errno(err, -errno, "%s", full);
		length += (size_t)n;
		if (length > READ_MAX)
			return error_set(err, -EFBIG, "%s: larger than %d MiB", full,
					 READ_MAX >> 20);
	} while (n > 0);
	text[length] = '\0';
	*ret = STEAL(text);
	return (ssize_t)length;
}

int path_read_u64(const char *root, const char *path, uint64_t *ret)
{
	_cleanup_free_ char *text = NULL;
	ssize_t r = path_read(root, path, &text, NULL);

	if (r < 0)
		return (int)r;
	text[strcspn(text, "\n")] = '\0';
	return parse_u64(text, 0, UINT64_MAX, ret);
}

/* Writes all of @text to @fd; 0 or -errno. */
static int write_all(int fd, const char *text)
{
	size_t left = strlen(text);
	ssize_t n;

	for (; left; text += n, left -= (size_t)n) {
		n = write(fd, text, left);
		if (n < 0)
			return -errno;
	}
	return 0;
}

int path_link(int fd, const char *to)
{
	_cleanup_free_ char *temporary = xasprintf("%s.%d.link.tmp", to, (int)getpid());
	char from[32];
	int r;

	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	(void)unlink(temporary);
	if (linkat(AT_FDCWD, from, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) < 0)
		return -errno;
	r = path_put(temporary, to, 0, 0);
	(void)unlink(temporary); /* still there if @to is the same file */
	return r < 0 ? r : path_sync_parent(to);
}

static int open_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *parent = slash ? xstrndup(path, (size_t)(slash + 1 - path)) : NULL;
	int fd = open(parent ?: ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int sync_names(int directory)
{
	/* Some file systems cannot (EINVAL); they have nothing to be written. */
	return fsync(directory) < 0 && errno != EINVAL ? -errno : 0;
}

int path_sync_parent(const char *path)
{
	_cleanup_close_ int fd = open_parent(path);

	return fd < 0 ? fd : sync_names(fd);
}

int path_put(const char *from, const char *to, unsigned int flags, int r)
{
	if (r == 0 && renameat2(AT_FDCWD, from, AT_FDCWD, to, flags) < 0)
		r = -errno;
	if (r < 0)
		(void)unlink(from);
	return r;
}

int path_publish(int fd, const char *from, const char *to, int r)
{
	/* Opened first: if that fails, nothing has changed yet. */
	_cleanup_close_ int parent = r < 0 ? -1 : open_parent(to);

	if (r == 0 && parent < 0)
		r = parent;
	if (r == 0 && fdatasync(fd) < 0)
		r = -errno;
	r = path_put(from, to, 0, r);
	if (r < 0)
		return r;
	r = sync_names(parent);
	if (r == 0)
		return 0;
	log_warn("%s is written, but may be lost in a power cut: %s", to, strerror(-r));
	return PATH_UNSYNCED;
}

int path_replace(const char *path, const char *text, mode_t mode, struct error *err)
{
	_cleanup_free_ char *temporary = xasprintf("%s.%d.tmp", path, (int)getpid());
	_cleanup_close_ int fd = -1;
	int r;

	fd = open_regular_new(temporary, O_WRONLY, mode);
	if (fd < 0)
		return error_errno(err, fd, "cannot create %s", temporary);
	r = path_publish(fd, temporary, path, write_all(fd, text));
	return r < 0 ? error_errno(err, r, "cannot write %s", path) : r;
}

int path_write(const char *path, const char *text, mode_t mode, struct error *err)
{
	return MIN(path_replace(path, text, mode, err), 0);
}
