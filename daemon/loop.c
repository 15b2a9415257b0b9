/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

int loop_watch(int epoll, int fd, uint32_t source, struct error *err)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = source };

	if (fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		return 0;
	return error_errno(err, -errno, "cannot watch a file descriptor");
}

void loop_unwatch(int epoll, int fd)
{
	if (fd >= 0)
		(void)epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
}

int loop_timer(struct error *err)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

	return fd < 0 ? error_errno(err, -errno, "cannot create a timer") : fd;
}

void loop_set_period(int timer, uint64_t period_ns)
{
	struct itimerspec when = { 0 };

	when.it_interval = (struct timespec){ (time_t)(period_ns / 1000000000),
					      (long)(period_ns % 1000000000) };
	when.it_value = when.it_interval;
	(void)timerfd_settime(timer, 0, &when, NULL);
}

void loop_swallow(int timer)
{
	uint64_t expirations;

	(void)!read(timer, &expirations, sizeof(expirations));
}
