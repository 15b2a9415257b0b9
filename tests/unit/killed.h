/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work that is killed at a random time, again and again.
 *
 *	killed += kill_often(&(struct killed_work){ work, check, &past, 3000 });
 */
#pragma once

#include "test.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct killed_work {
	void (*work)(const void *data);	 /* in a process of its own */
	void (*check)(const void *data); /* after each time */
	const void *data;
	unsigned int most_us; /* before it is killed */
};

/* Returns how many of 16 times it had not ended before. */
static inline unsigned int kill_often(const struct killed_work *k)
{
	unsigned int killed = 0, i;

	for (i = 0; i < 16; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			k->work(k->data);
			_exit(0);
		}
		(void)usleep((useconds_t)rand() % k->most_us);
		(void)kill(pid, SIGKILL);
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		killed += WIFSIGNALED(status);
		k->check(k->data);
	}
	return killed;
}
