/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/system_dir.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/dirtree.h"
#include "file/path.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Directories that serve the whole system, and are never made a session, even if they are empty.
 * What ends in a slash includes all below it. */
static const char *const of_system[] = {
	"/bin/",	 "/boot/",     "/dev",	     "/dev/mqueue",  "/dev/pts",    "/dev/shm",
	"/etc/",	 "/home",      "/lib/",	     "/lib32/",	     "/lib64/",	    "/media",
	"/mnt",		 "/opt",       "/proc/",     "/root",	     "/run",	    "/run/lock",
	"/run/systemd/", "/run/udev/", "/run/user",  "/sbin/",	     "/srv",	    "/sys/",
	"/tmp",		 "/usr/",      "/var",	     "/var/backups", "/var/cache",  "/var/crash",
	"/var/db",	 "/var/empty", "/var/games", "/var/lib",     "/var/lock",   "/var/local",
	"/var/log",	 "/var/mail",  "/var/opt",   "/var/run",     "/var/spool/", "/var/tmp",
	"/var/www",
};

/* Returns whether @path, without links, is such a directory. */
static bool is_of_system(const char *path)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of_system); i++) {
		size_t length = strlen(of_system[i]);
		bool and_below = of_system[i][length - 1] == '/';

		length -= and_below;
		if (!strncmp(path, of_system[i], length) &&
		    (!path[length] || (and_below && path[length] == '/')))
			return true;
	}
	return !strcmp(path, "/");
}

/* Returns whether @path is directly below / and contains something but no session: it may serve
 * this system, as no list can know. */
static bool is_in_use(const char *path)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	_cleanup_free_ char *abi = path_join(path, "abi");

	return !strchr(path + 1, '/') && access(abi, F_OK) < 0 &&
	       (dirtree_names_of(path, &names) < 0 || names.length);
}

int system_dir_refuse(const char *path, struct error *err)
{
	_cleanup_free_ char *real = xrealpath(path);

	if (!real)
		return error_errno(err, -errno, "%s", path);
	if (is_of_system(real))
		return error_set(err, -EPERM,
				 "%s: a directory of the system does not become a session; use a "
				 "new directory as --session-dir",
				 real);
	if (is_in_use(real))
		return error_set(err, -EPERM,
				 "%s: contains other files and may be a directory of the system; "
				 "use an empty or new directory as --session-dir",
				 real);
	return 0;
}
