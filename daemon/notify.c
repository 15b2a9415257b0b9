/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "notify.h"

#include "base/mem.h"
#include "base/parse.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

void notify_manager(const char *format, ...)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path ? strlen(path) : 0;
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -1;
	va_list ap;

	if (!length || length >= sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	va_start(ap, format);
	text = xvasprintf(format, ap);
	va_end(ap);
	memcpy(address.sun_path, path, length);
	if (path[0] == '@') /* an abstract socket: its name begins with NUL and has no final NUL */
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	/* The manager may have gone; that does not matter. */
	(void)sendto(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
		     (const struct sockaddr *)&address,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
}

uint64_t notify_watchdog_us(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t period_us, wanted;

	if (!usec || parse_u64(usec, 1, UINT64_MAX, &period_us) < 0)
		return 0;
	if (pid && (parse_u64(pid, 0, UINT64_MAX, &wanted) < 0 || wanted != (uint64_t)getpid()))
		return 0;
	return period_us;
}
