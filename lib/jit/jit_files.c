/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jit/jit_files.h"

#include "base/mem.h"
#include "base/parse.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "file/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct jit_files {
	struct jit_files_query query;
	int pidfd; /* -1: it had exited before it was first looked up */
	int root;  /* its root directory; negative: not known yet */
};

/* The innermost pid of the line "NSpid:" of /proc/PID/status. */
static uint32_t inner_pid(const char *root, uint32_t tgid)
{
	_cleanup_free_ char *path = xasprintf("/proc/%u/status", tgid), *text = NULL;
	const char *line, *end;
	uint64_t pid = tgid;

	if (path_read(root, path, &text, NULL) < 0 || !(line = strstr(text, "\nNSpid:")))
		return tgid;
	end = line + 1 + strcspn(line + 1, "\n");
	while (end > line && end[-1] >= '0' && end[-1] <= '9')
		end--;
	(void)parse_dec(&end, &pid);
	return (uint32_t)pid;
}

struct jit_files *jit_files_new(const char *root, uint32_t tgid)
{
	struct jit_files *f = xcalloc(1, sizeof(*f));
	_cleanup_free_ char *relative = xasprintf("/proc/%u", tgid);
	_cleanup_free_ char *path = path_under(root, relative);
	struct stat st;

	f->query.tgid = tgid;
	f->query.inner = inner_pid(root, tgid);
	f->pidfd = (int)syscall(SYS_pidfd_open, tgid, 0);
	f->root = -1;
	f->query.owner = stat(path, &st) == 0 ? st.st_uid : geteuid();
	return f;
}

int jit_files_open_root(const char *proc_root, uint32_t tgid)
{
	_cleanup_free_ char *relative = xasprintf("/proc/%u/root", tgid);
	_cleanup_free_ char *path = path_under(proc_root, relative);
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	/* The process has exited or its root is hidden: most likely its root is ours. */
	if (fd < 0)
		fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void jit_files_take_root(struct jit_files *f, int fd)
{
	f->root = fd;
}

void jit_files_free(struct jit_files *f)
{
	if (!f)
		return;
	if (f->pidfd >= 0)
		(void)close(f->pidfd);
	if (f->root >= 0)
		(void)close(f->root);
	free(f);
}

const struct jit_files_query *jit_files_query(const struct jit_files *f)
{
	return &f->query;
}

int jit_files_root(const struct jit_files *f)
{
	return f->root;
}

bool jit_files_gone(const struct jit_files *f)
{
	struct pollfd p = { .fd = f->pidfd, .events = POLLIN };

	return f->pidfd < 0 || poll(&p, 1, 0) > 0;
}

static uint64_t device_of(const struct statx *st)
{
	return (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor;
}

void jit_files_note(struct jit_files *f, int fd)
{
	struct jit_files_query *q = &f->query;
	struct statx st = { 0 };

	if (q->seen_count == JIT_FILES_MAX ||
	    statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &st) < 0)
		return;
	q->seen[q->seen_count].device = device_of(&st);
	q->seen[q->seen_count++].inode = st.stx_ino;
}

static bool is_new(const struct jit_files_query *q, const struct statx *st)
{
	size_t i;

	for (i = 0; i < MIN(q->seen_count, (uint32_t)JIT_FILES_MAX); i++)
		if (q->seen[i].device == device_of(st) && q->seen[i].inode == st->stx_ino)
			return false;
	return q->seen_count < JIT_FILES_MAX;
}

struct search {
	const struct jit_files_query *query;
	int root;
	int fd; /* what was found, or -ENOENT */
	char *path;
};

/* Looks at the file @path; returns whether it is one that was searched for. */
static bool try_file(struct search *s, const char *path)
{
	const unsigned int mask = STATX_TYPE | STATX_INO | STATX_UID | STATX_NLINK;
	_cleanup_close_ int fd = open_regular_find(s->root, path);
	struct statx st;

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, mask, &st) < 0 || !S_ISREG(st.stx_mode))
		return false;
	/* A file with a second link may belong to another user. */
	if ((st.stx_uid != s->query->owner && st.stx_uid != 0) || st.stx_nlink > 1 ||
	    !is_new(s->query, &st))
		return false;
	s->fd = STEAL_FD(fd);
	s->path = xstrdup(path);
	return true;
}

static bool is_jitdump(const char *path)
{
	const char *name = path_base(path);
	size_t length = strlen(name);

	return !strncmp(name, "jit-", 4) && length > 9 && !strcmp(name + length - 5, ".dump");
}

static int look_at_mapping(const struct maps_line *line, void *data)
{
	return is_jitdump(line->path) && try_file(data, line->path);
}

int jit_files_find(const char *proc_root, int root, const struct jit_files_query *query, char **ret)
{
	static const char *const names[] = { "/tmp/perf-%u.map", "/tmp/jit-%u.dump",
					     "/tmp/.oprofile/jitdump/%u.dump" };
	struct search s = { .query = query, .root = root, .fd = -ENOENT };
	size_t i;

	if (root < 0)
		return -ENOENT;
	(void)procfs_maps(proc_root, query->tgid, look_at_mapping, &s);
	for (i = 0; s.fd < 0 && i < ARRAY_SIZE(names); i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), names[i], query->inner);
		(void)try_file(&s, path);
	}
	if (s.fd >= 0)
		*ret = s.path;
	return s.fd;
}
