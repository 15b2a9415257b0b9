/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/mapped_name.h"

#include "base/macro.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Everything here runs in signal handlers: system calls and memory of the stack only. */

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

struct reader {
	int fd;
	char block[4096];
	ssize_t have, at;
};

/* Reads a line of at most @room - 1 bytes and drops the rest; false at the end. */
static bool read_line(struct reader *r, char *line, size_t room)
{
	size_t length = 0;

	for (;; r->at++) {
		if (r->at == r->have) {
			r->have = read(r->fd, r->block, sizeof(r->block));
			r->at = 0;
			if (r->have <= 0)
				return false;
		}
		if (r->block[r->at] == '\n') {
			r->at++;
			line[length] = '\0';
			return true;
		}
		if (length < room - 1)
			line[length++] = r->block[r->at];
	}
}

bool mapped_name(const void *address, char *line, size_t room)
{
	_cleanup_close_ int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	struct reader maps = { .fd = fd };
	char *at;

	while (fd >= 0 && read_line(&maps, line, room)) {
		if (!line_has(line, (uint64_t)(uintptr_t)address))
			continue;
		at = strchr(line, '/');
		if (!at)
			return false;
		memmove(line, at, strlen(at) + 1);
		for (at = line; *at; at++)
			*at = (unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at;
		return true;
	}
	return false;
}
