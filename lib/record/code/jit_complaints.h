/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits how often the log says the same of processes: a line for each user and minute, of a few
 * users, and how many more there were.
 *
 *	struct jit_complaints c = { .what = "gets no names" };
 *	if (jit_complaints_may(&c, uid, now_ns))
 *		log_warn("process %u: gets no names", tgid);
 *	...
 *	jit_complaints_sum_up(&c, now_ns);	now and then
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JIT_COMPLAINTS_USERS = 16 };

struct jit_complaints {
	const char *what; /* is said of more processes; borrowed */
	struct {
		uint64_t until_ns; /* when more are said */
		uint32_t uid;
		size_t more;
	} users[JIT_COMPLAINTS_USERS];
	size_t others; /* more of other users */
	uint64_t others_until_ns;
};

/* Whether the caller should write its line about a process of @uid, which is counted otherwise.
 * @now_ns: any clock. */
bool jit_complaints_may(struct jit_complaints *c, uint32_t uid, uint64_t now_ns);
/* Logs what was counted, if it is time. */
void jit_complaints_sum_up(struct jit_complaints *c, uint64_t now_ns);
