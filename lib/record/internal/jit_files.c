/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/internal/jit_files.h"

#include "base/mem.h"
#include "base/open_regular.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/procfs.h"
#include "jit/jit_source.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { FILES_MAX = 16 };

struct jit_files {
	char *proc_root;
	uint32_t tgid;
	uint32_t inner; /* its PID in its own namespace, which names its files */
	int pidfd;	/* -1: it had exited before it was first looked up */
	int root;	/* its root directory; -1: unknown */
	uid_t owner;	/* of the process; ours if it had exited */
	struct {
		dev_t device;
		ino_t inode;
	} seen[FILES_MAX];
	size_t seen_count;
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
	_cleanup_free_ char *relative = xasprintf("/proc/%u/root", tgid);
	_cleanup_free_ char *path = path_under(root, relative);
	struct stat st;

	f->proc_root = xstrdup(root ? root : "");
	f->tgid = tgid;
	f->inner = inner_pid(root, tgid);
	f->pidfd = (int)syscall(SYS_pidfd_open, tgid, 0);
	f->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*strrchr(path, '/') = '\0';
	f->owner = stat(path, &st) == 0 ? st.st_uid : geteuid();
	/* The process has exited or its root is hidden: most likely its root is ours. */
	if (f->root < 0)
		f->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return f;
}

void jit_files_free(struct jit_files *f)
{
	if (!f)
		return;
	if (f->pidfd >= 0)
		(void)close(f->pidfd);
	if (f->root >= 0)
		(void)close(f->root);
	free(f->proc_root);
	free(f);
}

uint32_t jit_files_owner(const struct jit_files *f)
{
	return f->owner;
}

bool jit_files_gone(const struct jit_files *f)
{
	struct pollfd p = { .fd = f->pidfd, .events = POLLIN };

	return f->pidfd < 0 || poll(&p, 1, 0) > 0;
}

static bool is_new(struct jit_files *f, const struct stat *st)
{
	size_t i;

	for (i = 0; i < f->seen_count; i++)
		if (f->seen[i].device == st->st_dev && f->seen[i].inode == st->st_ino)
			return false;
	return f->seen_count < FILES_MAX;
}

static struct jit_source *try_file(struct jit_files *f, const char *path)
{
	_cleanup_close_ int fd = open_regular_in(f->root, path, O_RDONLY | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !is_new(f, &st))
		return NULL;
	/* A file with a second link may belong to another user. */
	if ((st.st_uid != f->owner && st.st_uid != 0) || st.st_nlink > 1)
		return NULL;
	f->seen[f->seen_count].device = st.st_dev;
	f->seen[f->seen_count++].inode = st.st_ino;
	return jit_source_new(STEAL_FD(fd), path);
}

struct search {
	struct jit_files *files;
	struct jit_source *found;
};

static bool is_jitdump(const char *path)
{
	const char *name = path_base(path);
	size_t length = strlen(name);

	return !strncmp(name, "jit-", 4) && length > 9 && !strcmp(name + length - 5, ".dump");
}

static int look_at_mapping(const struct maps_line *line, void *data)
{
	struct search *s = data;

	if (!is_jitdump(line->path))
		return 0;
	s->found = try_file(s->files, line->path);
	return s->found != NULL;
}

struct jit_source *jit_files_next(struct jit_files *f)
{
	static const char *const names[] = { "/tmp/perf-%u.map", "/tmp/jit-%u.dump",
					     "/tmp/.oprofile/jitdump/%u.dump" };
	struct search s = { .files = f };
	size_t i;

	if (f->root < 0)
		return NULL;
	(void)procfs_maps(f->proc_root, f->tgid, look_at_mapping, &s);
	for (i = 0; !s.found && i < ARRAY_SIZE(names); i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), names[i], f->inner);
		s.found = try_file(f, path);
	}
	return s.found;
}
