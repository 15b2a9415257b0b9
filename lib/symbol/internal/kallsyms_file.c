/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/internal/kallsyms_file.h"

#include "base/mem.h"
#include "file/path.h"

#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Whether the standard input is the list. Its path may not be /proc/kallsyms here: something else
 * can be mounted there. */
static bool is_input(void)
{
	static const char name[] = "/kallsyms";
	char path[64];
	struct statfs fs;
	ssize_t n;

	if (fstatfs(STDIN_FILENO, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC)
		return false;
	n = readlink("/proc/self/fd/0", path, sizeof(path));
	return n >= (ssize_t)strlen(name) && n < (ssize_t)sizeof(path) &&
	       !memcmp(path + n - strlen(name), name, strlen(name));
}

/* Reads at an offset of its own, because threads share that of the descriptor. */
static ssize_t read_input(void *cookie, char *to, size_t size)
{
	off_t *at = cookie;
	ssize_t n = pread(STDIN_FILENO, to, size, *at);

	*at += MAX(n, 0);
	return n;
}

static int close_input(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *kallsyms_file_open(const char *root)
{
	const cookie_io_functions_t functions = { .read = read_input, .close = close_input };
	off_t *at;
	FILE *f;

	if ((root && *root) || !is_input())
		return path_fopen(root, "/proc/kallsyms");
	at = xcalloc(1, sizeof(*at));
	f = fopencookie(at, "r", functions);
	if (!f)
		free(at);
	return f;
}
