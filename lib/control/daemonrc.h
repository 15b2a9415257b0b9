/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's configuration file, daemonrc(5), which `opcontrol --setup` writes and oprofiled
 * reads: KEY=VALUE lines, with the keys of the table in control/settings.h. Unknown keys cause a
 * warning and are kept, so that an older tool does not drop the settings of a newer one.
 *
 *	_cleanup_(settings_done) struct settings s = settings_default();
 *	_cleanup_free_ char *path = daemonrc_path(NULL, true);
 *	int r = daemonrc_read(path, &s, err);
 *	if (r < 0 && r != -ENOENT)
 *		return r;
 *	(void)settings_set(&s, SETTING_BUF_SIZE, "65536", err);
 *	return daemonrc_write(path, &s, err);
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"
#include "control/settings.h"

#include <stdbool.h>
#include <stddef.h>

/* The file's path; caller frees. The first of: @given (from --config) if not NULL,
 * $OPROFILE_DAEMONRC, ~/.oprofile/daemonrc of the effective user if it exists,
 * /etc/oprofile/daemonrc. For @write, an ordinary user gets ~/.oprofile/daemonrc even if it does
 * not exist yet. */
char *daemonrc_path(const char *given, bool write);

/* Reads the file at @path into @ret, replacing its settings. Returns 0, or -errno with path and
 * line in @err: -ENOENT if there is no file, -EINVAL for a bad line. */
int daemonrc_read(const char *path, struct settings *ret, struct error *err);
/* As daemonrc_read(), but warns of each bad line and ignores it: for commands that must work
 * whatever the file contains, such as stopping the daemon. */
int daemonrc_read_usable(const char *path, struct settings *ret, struct error *err);
/* Does the same from @size bytes of text; @path is for messages only. */
int daemonrc_parse(const char *path, const char *text, size_t size, struct settings *ret,
		   struct error *err);

/* Appends the file's text to @out. */
void daemonrc_print(const struct settings *s, struct strbuf *out);
/* Replaces the file, creating its directory if needed. Returns 0 or -errno. The mode is 0600 in
 * ~/.oprofile and 0644 elsewhere. */
int daemonrc_write(const char *path, const struct settings *s, struct error *err);
