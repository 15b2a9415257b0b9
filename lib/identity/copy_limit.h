/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often something is done in a second that processes are a reason for, in all and for one user:
 * memory of processes is compared with files, and a process can change its memory all the time;
 * files are read that are executed for the first time. The caller has the struct.
 *
 *	struct copy_limit limit = { .all = 64, .of_user = 16 };
 *
 *	if (copy_limit_take(&limit, account_of("", tgid), now_ns))
 *		...
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { COPY_LIMIT_MAX = 128 };

struct copy_limit {
	unsigned int all, of_user; /* in a second; ->all is at most COPY_LIMIT_MAX. Root has all. */
	/* For this module: */
	uint64_t second_ns;
	unsigned int count, user_count; /* since ->second_ns */
	struct {
		uid_t user;
		unsigned int count;
	} users[COPY_LIMIT_MAX];
};

/* Whether one time more for @user is within the limit at @now_ns; then counts it. */
bool copy_limit_take(struct copy_limit *l, uid_t user, uint64_t now_ns);
