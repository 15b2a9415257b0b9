/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's configuration file, daemonrc(5), which `opcontrol --setup` writes and oprofiled
 * reads: lines KEY=VALUE, the keys those of the table in control/settings.h. Unknown keys cause a
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

/* The file's path; caller frees. @given (from --config) if not NULL, else $OPROFILE_DAEMONRC, else
 * ~/.oprofile/daemonrc of the effective user if it exists, else /etc/oprofile/daemonrc. An ordinary
 * user who wants to @write always gets the one in ~/.oprofile. */
char *daemonrc_path(const char *given, bool write);

/* Reads the file at @path into @ret, whose settings it replaces. 0, or -errno naming path and line:
 * -ENOENT if there is no file, -EINVAL for a bad line. */
int daemonrc_read(const char *path, struct settings *ret, struct error *err);
/* The same from @size bytes of text; @path is for messages. */
int daemonrc_parse(const char *path, const char *text, size_t size, struct settings *ret,
		   struct error *err);

/* Adds the file's text to @out. */
void daemonrc_print(const struct settings *s, struct strbuf *out);
/* Replaces the file and makes its directory; 0 or -errno. In ~/.oprofile only its owner may read it
 * (0600), elsewhere everybody may (0644). */
int daemonrc_write(const char *path, const struct settings *s, struct error *err);
