/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/process_read.h"

#include "base/mem.h"
#include "base/procfs.h"
#include "stream/evbuf.h"
#include "process/maps.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

/* What is gathered of one process. */
struct reading {
	struct cookie_table *cookies;
	struct maps *maps;
	size_t lines;	 /* also of what is not executable */
	const char *exe; /* what /proc/PID/exe says, or NULL */
	uint64_t app;	 /* cookie of the mapping of that name */
};

/* Takes back what the kernel does to a newline in a path, in place. */
static void unescape(char *path)
{
	char *at = path;

	while ((at = strstr(at, "\\012"))) {
		*at++ = '\n';
		memmove(at, at + 3, strlen(at + 3) + 1);
	}
}

static int read_line(const struct maps_line *line, void *data)
{
	struct reading *reading = data;
	_cleanup_free_ char *path = NULL;
	struct mapping mapping;

	reading->lines++;
	if (!line->executable)
		return 0;
	path = xstrdup(line->path);
	unescape(path);
	mapping_from(&(struct mapping_source){ .start = line->start,
					       .end = line->end,
					       .offset = line->offset,
					       .file = { (uint64_t)line->major << 32 | line->minor,
							 line->inode },
					       .path = path },
		     reading->cookies, &mapping);
	maps_add(&reading->maps, &mapping);
	if (mapping.cookie && !reading->app && reading->exe && !strcmp(path, reading->exe))
		reading->app = mapping.cookie;
	return 0;
}

/* The cookie of a program none of whose mappings has its name: it was renamed, or runs under a root
 * of its own. */
static uint64_t app_by_link(const struct process_source *from, uint32_t tid, const char *exe)
{
	_cleanup_free_ char *path = xasprintf("%s/proc/%u/exe", from->root ? from->root : "", tid);
	struct file_identity file;
	struct stat st;

	if (!exe || stat(path, &st) < 0)
		return EVBUF_NO_COOKIE;
	file = file_identity_of(&st);
	return cookie_file(from->cookies, &file, exe);
}

/* A process without mappings: a thread of the kernel, or one that has exited. */
static int read_without_maps(struct process_table *t, struct process *p, uint32_t tid,
			     const struct process_source *from)
{
	struct procfs_stat st;
	int r = procfs_stat(from->root, tid, &st);

	if (r < 0)
		return r;
	if (!st.kernel_thread)
		return -ESRCH;
	p->kernel = true;
	p->app = EVBUF_NO_COOKIE;
	process_set_maps(t, p, NULL);
	return 0;
}

int process_read(struct process_table *t, struct process *p, uint32_t tid,
		 const struct process_source *from)
{
	_cleanup_free_ char *exe = procfs_exe(from->root, tid);
	struct reading reading = { .cookies = from->cookies, .exe = exe, .maps = maps_new() };
	char name[PROCESS_NAME_MAX] = "";
	int r = procfs_maps(from->root, tid, read_line, &reading);

	(void)procfs_comm(from->root, tid, name);
	if (r < 0 || !reading.lines) {
		maps_unref(reading.maps);
		r = r < 0 ? r : read_without_maps(t, p, tid, from);
		if (r == 0)
			process_rename(t, p, name);
		return r;
	}
	p->kernel = p->exec = false;
	p->app = reading.app ? reading.app : app_by_link(from, tid, exe);
	p->read_count = maps_count(reading.maps);
	process_rename(t, p, name);
	process_set_maps(t, p, reading.maps);
	return 0;
}

bool process_is_gone(const char *root, uint32_t tgid)
{
	struct procfs_stat st;

	/* Asking the kernel itself is ten times cheaper, and mostly enough. */
	if ((!root || !*root) && kill((pid_t)tgid, 0) < 0 && errno == ESRCH)
		return true;
	if (procfs_stat(root, tgid, &st) < 0)
		return true;
	/* The main thread alone can be a zombie while others go on. */
	return (st.state == 'Z' || st.state == 'X') && st.threads <= 1;
}

/* Parents and children as /proc has them. */
struct family {
	const char *root;
	struct {
		uint32_t tgid, parent;
	} * members;
	size_t count, room;
};

static void add_member(uint32_t pid, void *data)
{
	struct family *f = data;
	struct procfs_stat st;

	if (procfs_stat(f->root, pid, &st) < 0)
		return;
	array_grow(&f->members, f->count + 1, &f->room);
	f->members[f->count].tgid = pid;
	f->members[f->count++].parent = st.parent;
}

void process_follow_children(struct process_table *t, const char *root)
{
	struct family f = { .root = root };
	bool more = true;
	size_t i;

	(void)procfs_pids(root, add_member, &f);
	/* A child's number can be lower than its parent's: go round until nobody joins. */
	while (more) {
		more = false;
		for (i = 0; i < f.count; i++) {
			const struct process *parent = process_get(t, f.members[i].parent);
			struct process *p = process_get(t, f.members[i].tgid);

			if (!parent || !parent->followed || (p && p->followed))
				continue;
			process_make(t, f.members[i].tgid)->followed = true;
			more = true;
		}
	}
	free(f.members);
}
