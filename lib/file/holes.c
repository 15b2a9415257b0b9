/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/holes.h"

#include "base/macro.h"

#include <errno.h>
#include <unistd.h>

enum { ALLOWED = 16 << 20, ALLOWED_PER_BYTE = 8 };

const char holes_text[] = "nearly all of it was never written (holes)";

bool holes_prevail(int fd, uint64_t bytes)
{
	off_t before, at = 0, end;
	uint64_t written = 0;
	bool known = true;

	if (bytes <= ALLOWED)
		return false;
	before = lseek(fd, 0, SEEK_CUR);
	while (known && (at = lseek(fd, at, SEEK_DATA)) >= 0 && (uint64_t)at < bytes) {
		end = lseek(fd, at, SEEK_HOLE);
		known = end > at;
		written += known ? MIN((uint64_t)end, bytes) - (uint64_t)at : 0;
		at = end;
	}
	if (at < 0 && errno != ENXIO)
		known = false;
	(void)lseek(fd, before, SEEK_SET);
	if (!known || bytes - written <= ALLOWED)
		return false;
	return (bytes - written - ALLOWED) / ALLOWED_PER_BYTE >= written;
}
