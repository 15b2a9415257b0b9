/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/procfs.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Moves past @c; false if there is another character. */
static bool skip(const char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

int maps_line_parse(char *line, struct maps_line *ret)
{
	struct maps_line m;
	uint64_t major, minor;
	const char *at = line;

	line[strcspn(line, "\n")] = '\0';
	if (parse_hex(&at, &m.start) < 0 || !skip(&at, '-') || parse_hex(&at, &m.end) < 0 ||
	    !skip(&at, ' ') || m.end < m.start || strcspn(at, " ") != 4)
		return -EBADMSG;
	m.executable = at[2] == 'x';
	at += 4;
	if (!skip(&at, ' ') || parse_hex(&at, &m.offset) < 0 || !skip(&at, ' ') ||
	    parse_hex(&at, &major) < 0 || !skip(&at, ':') || parse_hex(&at, &minor) < 0 ||
	    !skip(&at, ' ') || parse_dec(&at, &m.inode) < 0)
		return -EBADMSG;
	m.major = (uint32_t)major;
	m.minor = (uint32_t)minor;
	m.path = at + strspn(at, " ");
	*ret = m;
	return 0;
}

int procfs_maps(const char *root, uint32_t pid,
		int (*each)(const struct maps_line *line, void *data), void *data)
{
	_cleanup_free_ char *path = xasprintf("/proc/%u/maps", pid);
	_cleanup_fclose_ FILE *f = path_fopen(root, path);
	_cleanup_free_ char *line = NULL;
	struct maps_line m;
	size_t room = 0;
	int r = 0;

	if (!f)
		return -errno;
	while (r == 0 && xgetline(&line, &room, f) > 0)
		if (maps_line_parse(line, &m) == 0)
			r = each(&m, data);
	return r;
}

/* Calls @each with every name in the directory @path that is a number. */
static int each_number(const char *root, const char *path, void (*each)(uint32_t n, void *data),
		       void *data)
{
	_cleanup_free_ char *full = path_under(root, path);
	DIR *dir = opendir(full);
	struct dirent *entry;
	uint64_t n;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		if (parse_u64(entry->d_name, 1, UINT32_MAX, &n) == 0)
			each((uint32_t)n, data);
	(void)closedir(dir);
	return 0;
}

int procfs_pids(const char *root, void (*each)(uint32_t pid, void *data), void *data)
{
	return each_number(root, "/proc", each, data);
}

int procfs_tids(const char *root, uint32_t pid, void (*each)(uint32_t tid, void *data), void *data)
{
	_cleanup_free_ char *path = xasprintf("/proc/%u/task", pid);

	return each_number(root, path, each, data);
}

int procfs_comm(const char *root, uint32_t pid, char comm[16])
{
	_cleanup_free_ char *path = xasprintf("/proc/%u/comm", pid);
	_cleanup_free_ char *text = NULL;
	ssize_t r = path_read(root, path, &text, NULL);

	if (r < 0)
		return (int)r;
	text[strcspn(text, "\n")] = '\0';
	(void)snprintf(comm, 16, "%s", text);
	return 0;
}

int procfs_stat_parse(const char *line, struct procfs_stat *ret)
{
	/* The name may contain anything, but no field after it has a parenthesis. */
	const char *at = strrchr(line, ')');
	unsigned long flags, threads;
	unsigned int parent;
	char state;

	if (!at || sscanf(at,
			  ") %c %u %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*d %*d %*d "
			  "%*d %lu",
			  &state, &parent, &flags, &threads) != 4)
		return -EBADMSG;
	*ret = (struct procfs_stat){ .state = state,
				     .parent = parent,
				     .threads = threads,
				     .kernel_thread = flags & 0x00200000 /* PF_KTHREAD */ };
	return 0;
}

int procfs_stat(const char *root, uint32_t pid, struct procfs_stat *ret)
{
	_cleanup_free_ char *path = xasprintf("/proc/%u/stat", pid);
	_cleanup_free_ char *line = NULL;
	ssize_t r = path_read(root, path, &line, NULL);

	return r < 0 ? (int)r : procfs_stat_parse(line, ret);
}

int procfs_memory(const char *root, uint32_t pid, uint64_t *ret_resident, uint64_t *ret_shared)
{
	_cleanup_free_ char *path =
		pid ? xasprintf("/proc/%u/statm", pid) : xstrdup("/proc/self/statm");
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t size, resident, shared;
	_cleanup_free_ char *text = NULL;
	ssize_t r = path_read(root, path, &text, NULL);

	if (r < 0)
		return (int)r;
	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &size, &resident, &shared) != 3)
		return -EBADMSG;
	*ret_resident = resident * page;
	if (ret_shared)
		*ret_shared = shared * page;
	return 0;
}

char *procfs_exe(const char *root, uint32_t pid)
{
	_cleanup_free_ char *path = xasprintf("/proc/%u/exe", pid);
	_cleanup_free_ char *full = path_under(root, path);
	char target[4096];
	ssize_t n = readlink(full, target, sizeof(target) - 1);

	return n < 0 ? NULL : xstrndup(target, (size_t)n);
}

double procfs_cpu_mhz(const char *root)
{
	_cleanup_fclose_ FILE *f = path_fopen(root, "/proc/cpuinfo");
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	double mhz = 0;

	while (f && xgetline(&line, &room, f) > 0)
		if (sscanf(line, "cpu MHz : %lf", &mhz) == 1)
			break;
	return mhz;
}
