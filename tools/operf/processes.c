/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/operf/processes.h"

#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "file/procfs.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A search through all processes. */
struct search {
	struct processes *found;
	const char *pattern;
	bool (*matches)(const char *pattern, uint32_t pid);
};

static void add(struct processes *p, pid_t pid)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->pids[i] == pid)
			return;
	array_grow(&p->pids, p->count + 1, &p->room);
	p->pids[p->count++] = pid;
}

static int add_word(const char *word, void *data)
{
	uint64_t pid;

	if (parse_u64(word, 1, INT32_MAX, &pid) < 0)
		return -EINVAL;
	add(data, (pid_t)pid);
	return 0;
}

int processes_add(const char *arg, void *target, struct error *err)
{
	size_t length = strlen(arg);

	if (length && arg[length - 1] != ',' && parse_list(arg, ',', add_word, target) == 0)
		return 0;
	return error_set(err, -EINVAL, "--pid=%s: not a list of process ids", arg);
}

static bool is_named(const char *pattern, uint32_t pid)
{
	_cleanup_free_ char *exe = NULL;
	char comm[16];

	if (procfs_comm("", pid, comm) == 0 && fnmatch(pattern, comm, 0) == 0)
		return true;
	exe = procfs_exe("", pid);
	return exe && fnmatch(pattern, path_base(exe), 0) == 0;
}

/* Whether @path is @wanted or below it, or one of its parts matches it. */
static bool is_cgroup(const char *wanted, char *path)
{
	size_t length = strlen(wanted);
	char *part;

	while (length && wanted[length - 1] == '/' && *wanted == '/')
		length--;
	if (*wanted == '/')
		return !strncmp(path, wanted, length) && (!path[length] || path[length] == '/');
	while ((part = strsep(&path, "/")))
		if (*part && fnmatch(wanted, part, 0) == 0)
			return true;
	return false;
}

static bool is_in_cgroup(const char *pattern, uint32_t pid)
{
	_cleanup_free_ char *name = xasprintf("/proc/%u/cgroup", pid), *text = NULL;
	char *rest, *line;

	if (path_read("", name, &text, NULL) < 0)
		return false;
	/* Lines "NUMBER:CONTROLLERS:PATH" (cgroups(7)). */
	for (rest = text; (line = strsep(&rest, "\n"));) {
		char *path = strchr(line, ':');

		path = path ? strchr(path + 1, ':') : NULL;
		if (path && is_cgroup(pattern, path + 1))
			return true;
	}
	return false;
}

/* Whether we may profile it: it is a program that has not exited, and ours unless we are root. */
static bool is_eligible(uint32_t pid)
{
	_cleanup_free_ char *path = xasprintf("/proc/%u", pid);
	struct procfs_stat st;
	struct stat owner;

	return pid != (uint32_t)getpid() && procfs_stat("", pid, &st) == 0 && st.state != 'Z' &&
	       !st.kernel_thread &&
	       (!geteuid() || (stat(path, &owner) == 0 && owner.st_uid == geteuid()));
}

static void look(uint32_t pid, void *data)
{
	const struct search *s = data;

	if (is_eligible(pid) && s->matches(s->pattern, pid))
		add(s->found, (pid_t)pid);
}

/* Adds what @s finds; -ESRCH with the text @none if that is nothing. */
static int find(struct search *s, const char *none, struct error *err)
{
	size_t before = s->found->count;
	int r = procfs_pids("", look, s);

	if (r < 0)
		return error_errno(err, r, "/proc");
	s->found->may_be_gone = true;
	if (s->found->count > before)
		return 0;
	return error_set(err, -ESRCH, none, s->pattern);
}

int processes_add_named(const char *arg, void *target, struct error *err)
{
	struct search s = { target, arg, is_named };

	return find(&s, "--name=%s: no running process has this name", err);
}

int processes_add_cgroup(const char *arg, void *target, struct error *err)
{
	struct search s = { target, arg, is_in_cgroup };

	return find(&s, "--cgroup=%s: no process is in this cgroup; see systemd-cgls", err);
}
