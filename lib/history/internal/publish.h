/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a file at once: it has its name only when all of it is on the disk.
 *
 *	r = publish(path, temporary, &bytes, now_s);
 */
#pragma once

#include <stdint.h>

struct strbuf;

/* Writes @bytes to @path, by way of @temporary in the same directory, with the time of its last
 * write set to @written_s, since 1970. 0 or -errno: -EIO also if @path is written, but may be lost
 * in a power cut. */
int publish(const char *path, const char *temporary, const struct strbuf *bytes, int64_t written_s);
