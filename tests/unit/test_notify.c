/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "notify.h"

#include <sys/socket.h>
#include <sys/un.h>

/* A datagram socket of the service manager's kind; '@' stands for the NUL of an abstract name. */
static int manager(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, path, strlen(path));
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	CHECK_EQ(bind(fd, (const struct sockaddr *)&address,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path))),
		 0);
	return fd;
}

static void states_reach_both_kinds_of_socket(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "notify");
	_cleanup_free_ char *abstract = xasprintf("@%s", path);
	const char *const sockets[] = { path, abstract };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sockets); i++) {
		_cleanup_close_ int fd = manager(sockets[i]);
		char text[100] = "";

		setenv("NOTIFY_SOCKET", sockets[i], 1);
		notify_manager("READY=1\nSTATUS=%s", "sampling");
		CHECK_EQ(recv(fd, text, sizeof(text) - 1, 0), 23);
		CHECK_STR(text, "READY=1\nSTATUS=sampling");
	}
	unsetenv("NOTIFY_SOCKET");
}

static void a_missing_manager_is_harmless(void)
{
	static const char *const bad[] = { "", "relative", "/no/such/socket", "@" };
	_cleanup_free_ char *endless = xcalloc(1, 301);
	size_t i;

	unsetenv("NOTIFY_SOCKET");
	notify_manager("READY=1");
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		setenv("NOTIFY_SOCKET", bad[i], 1);
		notify_manager("READY=1");
	}
	memset(endless, '/', 300);
	setenv("NOTIFY_SOCKET", endless, 1);
	notify_manager("READY=1");
	unsetenv("NOTIFY_SOCKET");
}

static void watchdog_is_of_this_process_only(void)
{
	_cleanup_free_ char *self = xasprintf("%d", (int)getpid());

	unsetenv("WATCHDOG_PID");
	setenv("WATCHDOG_USEC", "30000000", 1);
	CHECK_EQ(notify_watchdog_us(), 30000000);
	setenv("WATCHDOG_PID", self, 1);
	CHECK_EQ(notify_watchdog_us(), 30000000);
	setenv("WATCHDOG_PID", "1", 1);
	CHECK_EQ(notify_watchdog_us(), 0);
	unsetenv("WATCHDOG_PID");
	setenv("WATCHDOG_USEC", "soon", 1);
	CHECK_EQ(notify_watchdog_us(), 0);
	unsetenv("WATCHDOG_USEC");
	CHECK_EQ(notify_watchdog_us(), 0);
}

TESTS(T(states_reach_both_kinds_of_socket), T(a_missing_manager_is_harmless),
      T(watchdog_is_of_this_process_only))
