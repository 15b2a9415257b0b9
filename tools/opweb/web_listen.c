/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_listen.h"

#include "base/mem.h"
#include "base/parse.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 32 };

/* Binds a new socket, and listens. */
static int listen_at(const struct sockaddr *address, socklen_t size, const char *text,
		     struct error *err)
{
	int one = 1, fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return error_errno(err, -errno, "%s", text);
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, address, size) < 0 || listen(fd, BACKLOG) < 0) {
		int why = -errno;

		(void)close(fd);
		return error_errno(err, why, "%s", text);
	}
	return fd;
}

/* Removes the socket at this path if nobody listens there: its server was killed. */
static bool remove_stale(const struct sockaddr_un *address)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	return fd >= 0 && lstat(address->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
	       connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
	       errno == ECONNREFUSED && unlink(address->sun_path) == 0;
}

static int open_unix(const char *path, struct web_listen *ret, struct error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	mode_t mask;

	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(err, -ENAMETOOLONG, "%s: too long for a socket", path);
	(void)strcpy(address.sun_path, path);
	mask = umask(0177);
	ret->fd = listen_at((const struct sockaddr *)&address, sizeof(address), path, err);
	if (ret->fd == -EADDRINUSE && remove_stale(&address))
		ret->fd = listen_at((const struct sockaddr *)&address, sizeof(address), path, err);
	(void)umask(mask);
	if (ret->fd < 0)
		return ret->fd;
	ret->path = xstrdup(path);
	ret->is_unix = true;
	return 0;
}

static int bad_address(const char *text, struct error *err)
{
	return error_set(err, -EINVAL,
			 "--listen: '%s' is not PORT, ADDRESS:PORT or the path of a socket", text);
}

/* Splits "ADDRESS:PORT". The address may be in brackets or missing. */
static int parse_address(const char *text, char address[64], uint16_t *port)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;
	uint64_t number;

	if (parse_u64(colon ? colon + 1 : text, 0, UINT16_MAX, &number) < 0 || length >= 64)
		return -EINVAL;
	(void)snprintf(address, 64, "%.*s", colon ? (int)length : 9, colon ? text : "127.0.0.1");
	if (*address == '[' && length > 1 && address[length - 1] == ']') {
		memmove(address, address + 1, length - 2);
		address[length - 2] = '\0';
	}
	*port = (uint16_t)number;
	return 0;
}

static int open_port(const char *text, struct web_listen *ret, struct error *err)
{
	struct {
		union {
			struct sockaddr any;
			struct sockaddr_in v4;
			struct sockaddr_in6 v6;
		};
	} at = { 0 };
	socklen_t size = sizeof(at.v4);
	char address[64];
	uint16_t port;

	if (parse_address(text, address, &port) < 0)
		return bad_address(text, err);
	if (inet_pton(AF_INET, address, &at.v4.sin_addr) == 1) {
		at.v4.sin_family = AF_INET;
		at.v4.sin_port = htons(port);
		(void)snprintf(ret->host, sizeof(ret->host), "%s", address);
	} else if (inet_pton(AF_INET6, address, &at.v6.sin6_addr) == 1) {
		at.v6.sin6_family = AF_INET6;
		at.v6.sin6_port = htons(port);
		size = sizeof(at.v6);
		(void)snprintf(ret->host, sizeof(ret->host), "[%.60s]", address);
	} else {
		return bad_address(text, err);
	}
	ret->fd = listen_at(&at.any, size, text, err);
	if (ret->fd < 0)
		return ret->fd;
	(void)getsockname(ret->fd, &at.any, &size);
	/* Both kinds of address have the port in the same place. */
	ret->port = ntohs(at.v4.sin_port);
	return 0;
}

/* --- a socket that is open already --- */

/* The number of sockets that were passed to this process, and not to its parent. */
static uint64_t count_passed(void)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	uint64_t number, sockets;

	if (!pid || !count || parse_u64(pid, 1, INT32_MAX, &number) < 0 ||
	    (pid_t)number != getpid() || parse_u64(count, 0, INT32_MAX, &sockets) < 0)
		return 0;
	return sockets;
}

/* Whether @fd is a socket that connections are made to. */
static bool is_listening(int fd)
{
	int type = 0, listens = 0;
	socklen_t size = sizeof(type), length = sizeof(listens);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM &&
	       getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 && listens;
}

/* Finds where the socket listens; false if at no place for browsers. */
static bool find_address(struct web_listen *at)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_un un;
	} name = { 0 };
	socklen_t size = sizeof(name);
	char text[INET6_ADDRSTRLEN] = "";

	if (getsockname(at->fd, &name.any, &size) < 0)
		return false;
	at->is_unix = name.any.sa_family == AF_UNIX;
	at->port = ntohs(name.v4.sin_port);
	if (name.any.sa_family == AF_INET &&
	    inet_ntop(AF_INET, &name.v4.sin_addr, text, sizeof(text)))
		(void)snprintf(at->host, sizeof(at->host), "%s", text);
	else if (name.any.sa_family == AF_INET6 &&
		 inet_ntop(AF_INET6, &name.v6.sin6_addr, text, sizeof(text)))
		(void)snprintf(at->host, sizeof(at->host), "[%s]", text);
	if (at->is_unix)
		at->port = 0;
	return at->is_unix || *at->host;
}

int web_listen_take(struct web_listen *ret, struct error *err)
{
	enum { FIRST_PASSED = 3 };
	struct web_listen at = { .fd = FIRST_PASSED };
	uint64_t count = count_passed();

	*ret = (struct web_listen){ .fd = -1 };
	if (!count)
		return 0;
	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
	if (count != 1)
		return error_set(err, -EINVAL, "%llu sockets were passed; one is needed",
				 (unsigned long long)count);
	if (!is_listening(at.fd) || !find_address(&at))
		return error_set(err, -EINVAL,
				 "the descriptor that was passed is not a listening socket; "
				 "see ListenStream= in systemd.socket(5)");
	(void)fcntl(at.fd, F_SETFD, FD_CLOEXEC);
	(void)fcntl(at.fd, F_SETFL, O_NONBLOCK);
	*ret = at;
	return 1;
}

int web_listen_open(const char *text, struct web_listen *ret, struct error *err)
{
	*ret = (struct web_listen){ .fd = -1 };
	if (text && strchr(text, '/'))
		return open_unix(text, ret, err);
	return open_port(text ?: "0", ret, err);
}

void web_listen_close(struct web_listen *at)
{
	if (at->fd >= 0)
		(void)close(at->fd);
	if (at->path)
		(void)unlink(at->path);
	free(at->path);
	*at = (struct web_listen){ .fd = -1 };
}
