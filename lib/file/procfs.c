/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/procfs.h"

#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"

#include <dirent.h>
#include <errno.h>
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

/* Replaces \ooo, which the kernel writes for blanks and the like, in place. */
static char *unescape(char *text)
{
	char *from = text, *to = text;

	while (*from) {
		if (from[0] == '\\' && strspn(from + 1, "01234567") >= 3) {
			*to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 |
				       (from[3] - '0'));
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
	return text;
}

int mount_line_parse(char *line, struct mount_line *ret)
{
	/* Before optional fields and a "-". */
	enum { ID, DEVICE = 2, ROOT, POINT, OPTIONS, FIXED };
	char *fields[FIXED] = { NULL }, *type, *source, *options, *rest = line;
	uint64_t id, major, minor;
	const char *at;
	size_t i;

	line[strcspn(line, "\n")] = '\0';
	for (i = 0; i < FIXED; i++)
		fields[i] = strsep(&rest, " ");
	do
		type = strsep(&rest, " ");
	while (type && strcmp(type, "-") != 0);
	type = strsep(&rest, " ");
	source = strsep(&rest, " ");
	options = strsep(&rest, " ");
	if (!source || !options)
		return -EBADMSG;
	if (parse_u64(fields[ID], 10, UINT64_MAX, &id) < 0)
		return -EBADMSG;
	at = fields[DEVICE];
	if (parse_dec(&at, &major) < 0 || !skip(&at, ':') || parse_dec(&at, &minor) < 0 || *at)
		return -EBADMSG;
	*ret = (struct mount_line){ .id = id,
				    .major = (uint32_t)major,
				    .minor = (uint32_t)minor,
				    .root = unescape(fields[ROOT]),
				    .point = unescape(fields[POINT]),
				    .type = type,
				    .options = unescape(options) };
	return 0;
}

int procfs_mounts(const char *root, uint32_t pid,
		  int (*each)(const struct mount_line *line, void *data), void *data)
{
	_cleanup_free_ char *path =
		pid ? xasprintf("/proc/%u/mountinfo", pid) : xstrdup("/proc/self/mountinfo");
	_cleanup_fclose_ FILE *f = path_fopen(root, path);
	_cleanup_free_ char *line = NULL;
	struct mount_line m;
	size_t room = 0;
	int r = 0;

	if (!f)
		return -errno;
	while (r == 0 && xgetline(&line, &room, f) > 0)
		if (mount_line_parse(line, &m) == 0)
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
	int r;

	if (!dir)
		return -errno;
	while ((errno = 0, entry = readdir(dir)))
		if (parse_u64(entry->d_name, 1, UINT32_MAX, &n) == 0)
			each((uint32_t)n, data);
	r = -errno;
	(void)closedir(dir);
	return r;
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

/* The number in field @n of a line, counting from 0; 0 or -errno. */
static int field(const char *at, size_t n, uint64_t *ret)
{
	for (; n; n--) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	return parse_dec(&at, ret);
}

int procfs_stat_parse(const char *line, struct procfs_stat *ret)
{
	enum { STATE, PARENT, FLAGS = 6, THREADS = 17, START = 19 };
	/* The name before it may contain anything, but nothing after it has a parenthesis. */
	const char *at = strrchr(line, ')');
	uint64_t parent, flags, threads, start = 0;

	if (!at || at[1] != ' ' || !at[2])
		return -EBADMSG;
	at += 2;
	if (field(at, PARENT, &parent) < 0 || field(at, FLAGS, &flags) < 0 ||
	    field(at, THREADS, &threads) < 0)
		return -EBADMSG;
	(void)field(at, START, &start);
	*ret = (struct procfs_stat){ .state = at[STATE],
				     .parent = (uint32_t)parent,
				     .threads = threads,
				     .start = start,
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
	uint64_t resident, shared;
	_cleanup_free_ char *text = NULL;
	ssize_t r = path_read(root, path, &text, NULL);

	if (r < 0)
		return (int)r;
	if (field(text, 1, &resident) < 0 || field(text, 2, &shared) < 0)
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

bool procfs_first_pid_namespace(void)
{
	static const char first[] = "pid:[4026531836]"; /* PROC_PID_INIT_INO */
	char name[64] = "";

	return readlink("/proc/self/ns/pid", name, sizeof(name) - 1) <= 0 || !strcmp(name, first);
}

/* Returns the value of the first line "KEY : value" of /proc/cpuinfo, NULL if there is none; caller
 * frees. */
static char *cpuinfo_value(const char *root, const char *key)
{
	_cleanup_fclose_ FILE *f = path_fopen(root, "/proc/cpuinfo");
	_cleanup_free_ char *line = NULL;
	size_t room = 0;

	while (f && xgetline(&line, &room, f) > 0) {
		const char *value = line + strlen(key);

		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		value += strspn(value, " \t");
		if (*value++ == ':')
			return xstrndup(value + strspn(value, " \t"),
					strcspn(value + strspn(value, " \t"), "\n"));
	}
	return NULL;
}

char *procfs_cpu_model(const char *root)
{
	return cpuinfo_value(root, "model name");
}

double procfs_cpu_mhz(const char *root)
{
	_cleanup_free_ char *value = cpuinfo_value(root, "cpu MHz");
	const char *text = value;
	double mhz;

	return text && parse_decimal(&text, &mhz) == 0 ? mhz : 0;
}
