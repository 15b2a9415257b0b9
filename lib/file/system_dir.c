/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/system_dir.h"

#include "base/mem.h"
#include "file/path.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Directories that serve the whole system, and are never made a session, even if they are empty.
 * What ends in a slash includes all below it. Those directly below / need no line. */
static const char *const of_system[] = {
	"/bin/",      "/boot/",	     "/dev/mqueue", "/dev/pts",	  "/dev/shm",	"/etc/",
	"/lib/",      "/lib32/",     "/lib64/",	    "/proc/",	  "/run/lock",	"/run/systemd/",
	"/run/udev/", "/run/user",   "/sbin/",	    "/sys/",	  "/usr/",	"/var/backups",
	"/var/cache", "/var/crash",  "/var/db",	    "/var/empty", "/var/games", "/var/lib",
	"/var/lock",  "/var/local",  "/var/log",    "/var/mail",  "/var/opt",	"/var/run",
	"/var/spool", "/var/spool/", "/var/tmp",    "/var/www",
};

/* Returns whether @path, without links, is such a directory. */
static bool is_of_system(const char *path)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of_system); i++) {
		size_t length = strlen(of_system[i]);
		bool and_below = of_system[i][length - 1] == '/';

		if (and_below ? !strncmp(path, of_system[i], length) : !strcmp(path, of_system[i]))
			return true;
	}
	return !strchr(path + 1, '/');
}

int system_dir_refuse(const char *path, struct error *err)
{
	_cleanup_free_ char *real = xrealpath(path);

	if (!real)
		return error_errno(err, -errno, "%s", path);
	if (!is_of_system(real))
		return 0;
	return error_set(err, -EPERM,
			 "%s: a directory of the system does not become a session; use a new "
			 "directory as --session-dir",
			 real);
}
