/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/internal/jit_files.h"

#include "base/mem.h"
#include "base/open_regular.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/procfs.h"
#include "jit/jit_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

/* Mounts are looked through up to a limit; what is in a later one is not read. */
enum { FILES_MAX = 16, MOUNTS_MAX = 4096 };

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

static bool is_new(const struct jit_files *f, const struct statx *st)
{
	const dev_t device = makedev(st->stx_dev_major, st->stx_dev_minor);
	size_t i;

	for (i = 0; i < f->seen_count; i++)
		if (f->seen[i].device == device && f->seen[i].inode == st->stx_ino)
			return false;
	return f->seen_count < FILES_MAX;
}

static void note_seen(struct jit_files *f, const struct statx *st)
{
	f->seen[f->seen_count].device = makedev(st->stx_dev_major, st->stx_dev_minor);
	f->seen[f->seen_count++].inode = st->stx_ino;
}

/* A search for the type of a mount. */
struct mount_search {
	uint64_t id;
	size_t seen;
	bool found, local;
};

static int look_at_mount(const struct mount_line *m, void *data)
{
	static const char *const remote[] = { "fuse", "fuseblk", "nfs",	 "nfs4", "cifs",
					      "smb3", "9p",	 "ceph", "afs",	 "autofs" };
	struct mount_search *s = data;
	size_t i;

	if (m->id != s->id)
		return ++s->seen == MOUNTS_MAX;
	s->found = true;
	s->local = strncmp(m->type, "fuse.", 5) != 0;
	for (i = 0; i < ARRAY_SIZE(remote); i++)
		s->local = s->local && strcmp(m->type, remote[i]) != 0;
	return 1;
}

/* Whether no server can hold whoever opens the file, which only the mount says without asking it.
 * Before Linux 5.8 that is unknown. In a chroot, the list of mounts may lack that of "/": then a
 * file system on a disk is local. */
static bool is_local(const struct jit_files *f, const struct statx *st)
{
	struct mount_search s = { .id = st->stx_mnt_id };

	if (!(st->stx_mask & STATX_MNT_ID))
		return true;
	(void)procfs_mounts(f->proc_root, f->tgid, look_at_mount, &s);
	if (!s.found)
		(void)procfs_mounts("", 0, look_at_mount, &s);
	return s.found ? s.local : st->stx_dev_major != 0;
}

/* Attributes as the kernel remembers them. */
static bool recall(int handle, struct statx *st)
{
	const unsigned int mask = STATX_TYPE | STATX_INO | STATX_UID | STATX_NLINK | STATX_MNT_ID;

	return statx(handle, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, mask, st) == 0;
}

/* What the process has just written, the kernel remembers. For what was written long ago, it reads
 * the directory again, if that is local. */
static int find_file(const struct jit_files *f, const char *path)
{
	_cleanup_free_ char *parent = xstrndup(path, (size_t)(path_base(path) - path));
	int handle = open_regular_find(f->root, path, false);
	_cleanup_close_ int directory = -1;
	struct statx st;

	if (handle != -EAGAIN)
		return handle;
	directory = open_regular_find(f->root, parent, false);
	if (directory < 0 || !recall(directory, &st) || !is_local(f, &st))
		return -EAGAIN;
	return open_regular_find(directory, path_base(path), true);
}

static struct jit_source *try_file(struct jit_files *f, const char *path)
{
	_cleanup_close_ int handle = find_file(f, path);
	struct statx st;
	int fd = -1;

	if (handle < 0 || !recall(handle, &st) || !S_ISREG(st.stx_mode))
		return NULL;
	/* A file with a second link may belong to another user. */
	if ((st.stx_uid != f->owner && st.stx_uid != 0) || st.stx_nlink > 1 || !is_new(f, &st))
		return NULL;
	if (is_local(f, &st)) {
		fd = open_regular_found(handle, O_RDONLY);
		if (fd < 0)
			return NULL;
	}
	note_seen(f, &st);
	return fd < 0 ? NULL : jit_source_new(fd, path);
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
