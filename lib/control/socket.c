/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/socket.h"

#include "base/mem.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { BACKLOG = 16, RETRY_MS = 10 };

int control_directory(const char *session_dir, struct error *err)
{
	int fd = open(session_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? error_errno(err, -errno, "session directory %s", session_dir) : fd;
}

/* Fills in the address of the socket in @directory: by path, or through the descriptor if the path
 * is too long for an address. */
static void make_address(int directory, const char *session_dir, struct sockaddr_un *ret)
{
	_cleanup_free_ char *path = path_join(session_dir, CONTROL_SOCKET);

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) < sizeof(ret->sun_path))
		memcpy(ret->sun_path, path, strlen(path) + 1);
	else
		(void)snprintf(ret->sun_path, sizeof(ret->sun_path),
			       "/proc/self/fd/%d/" CONTROL_SOCKET, directory);
}

/* Removes a socket that nobody listens on; leaves anything that is not a socket. */
static int remove_stale(int directory, const char *session_dir, struct error *err)
{
	struct stat st;

	if (fstatat(directory, CONTROL_SOCKET, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return error_set(err, -EEXIST,
				 "%s/" CONTROL_SOCKET
				 " is in the way of the control socket: remove it",
				 session_dir);
	if (unlinkat(directory, CONTROL_SOCKET, 0) < 0 && errno != ENOENT)
		return error_errno(err, -errno, "cannot remove %s/" CONTROL_SOCKET, session_dir);
	return 0;
}

int control_group(const char *name, gid_t *ret, struct error *err)
{
	const struct group *group = name ? getgrnam(name) : NULL;

	if (name && !group)
		return error_set(err, -ENOENT, "no group '%s' for the control socket", name);
	*ret = group ? group->gr_gid : (gid_t)-1;
	return 0;
}

static int give_to_group(int directory, gid_t group, struct error *err)
{
	if (fchownat(directory, CONTROL_SOCKET, (uid_t)-1, group, AT_SYMLINK_NOFOLLOW) < 0 ||
	    fchmodat(directory, CONTROL_SOCKET, 0660, 0) < 0)
		return error_errno(err, -errno, "cannot give the control socket to group %u",
				   group);
	return 0;
}

void control_unlisten(int directory)
{
	(void)unlinkat(directory, CONTROL_SOCKET, 0);
}

int control_listen(int directory, const char *session_dir, gid_t group, struct error *err)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	int r;

	if (fd < 0)
		return error_errno(err, -errno, "cannot create the control socket");
	r = remove_stale(directory, session_dir, err);
	if (r < 0)
		return r;
	/* bind() copies the socket's mode to the file, so it is never open to others, not even
	 * briefly. */
	if (fchmod(fd, 0600) < 0)
		return error_errno(err, -errno, "cannot protect the control socket");
	make_address(directory, session_dir, &address);
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return error_errno(err, -errno,
				   "cannot create the control socket %s/" CONTROL_SOCKET,
				   session_dir);
	r = group != (gid_t)-1 ? give_to_group(directory, group, err) : 0;
	if (r == 0 && listen(fd, BACKLOG) < 0)
		r = error_errno(err, -errno, "cannot listen on %s/" CONTROL_SOCKET, session_dir);
	if (r < 0) {
		control_unlisten(directory);
		return r;
	}
	return STEAL_FD(fd);
}

/* Waits if another thread took the spare descriptor. */
static int refuse_without_descriptor(int listener, int *spare)
{
	bool is_refused;
	int fd;

	(void)close(*spare);
	fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	is_refused = fd >= 0 && close(fd) == 0;
	if (!is_refused)
		(void)poll(NULL, 0, RETRY_MS);
	*spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return is_refused ? -ENFILE : -EAGAIN;
}

int control_accept(int listener, int *spare)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		return refuse_without_descriptor(listener, spare);
	return fd < 0 ? -errno : fd;
}

int control_connect(const char *session_dir, int timeout_ms, struct error *err)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	_cleanup_close_ int directory = open(session_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct timeval timeout = { timeout_ms / 1000, timeout_ms % 1000 * 1000 };
	struct sockaddr_un address;

	if (fd < 0)
		return error_errno(err, -errno, "cannot create a socket");
	/* A daemon with a full accept queue must not block us forever. */
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	make_address(directory, session_dir, &address);
	if (directory >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return STEAL_FD(fd);
	if (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR)
		return error_set(err, -ENOENT, "no daemon runs for the session directory %s",
				 session_dir);
	return error_errno(err, -errno, "cannot reach the daemon at %s/" CONTROL_SOCKET,
			   session_dir);
}
