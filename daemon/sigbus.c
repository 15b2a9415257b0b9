/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sigbus.h"

#include "logfile.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Everything below runs in a signal handler: system calls and plain memory only. */

/* Parses the hexadecimal number at *@s; moves *@s past it. */
static uint64_t take_hex(const char **s)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit;
	uint64_t value = 0;

	for (; **s && (digit = strchr(digits, **s)); (*s)++)
		value = value << 4 | (uint64_t)(digit - digits);
	return value;
}

/* Returns whether a line of /proc/self/maps contains @address. */
static bool line_has(const char *line, uint64_t address)
{
	uint64_t start = take_hex(&line);

	return *line++ == '-' && address >= start && address < take_hex(&line);
}

/* Reads a line of at most @room - 1 bytes and drops the rest; false at the end. */
static bool read_line(int fd, char *line, size_t room)
{
	static char block[4096];
	static ssize_t have, at;
	size_t length = 0;

	for (;;) {
		if (at == have) {
			have = read(fd, block, sizeof(block));
			at = 0;
			if (have <= 0)
				return false;
		}
		if (block[at] == '\n') {
			at++;
			line[length] = '\0';
			return true;
		}
		if (length < room - 1)
			line[length++] = block[at];
		at++;
	}
}

static void on_sigbus(int number _unused_, siginfo_t *info, void *context _unused_)
{
	static char line[4352]; /* a path has at most 4096 bytes */
	int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	const char *name = NULL;

	while (!name && maps >= 0 && read_line(maps, line, sizeof(line)))
		if (line_has(line, (uint64_t)(uintptr_t)info->si_addr))
			name = strchr(line, '/') ? strchr(line, '/') : "memory without a file";
	logfile_raw("oprofiled: error: cannot write to ");
	logfile_raw(name ? name : "a sample file");
	logfile_raw(
		" (disk full, or the file was cut short): stopped; run opcheck on the session\n");
	_exit(1);
}

void sigbus_catch(void)
{
	struct sigaction action = { .sa_sigaction = on_sigbus,
				    .sa_flags = (int)(SA_SIGINFO | SA_RESETHAND) };

	(void)sigaction(SIGBUS, &action, NULL);
}
