/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/code/jit_complaints.h"

#include "base/clock.h"
#include "base/log.h"

static const uint64_t quiet_ns = 60 * NS_PER_S;

bool jit_complaints_may(struct jit_complaints *c, uint32_t uid, uint64_t now_ns)
{
	size_t i, free_one = JIT_COMPLAINTS_USERS;

	for (i = 0; i < JIT_COMPLAINTS_USERS; i++) {
		if (c->users[i].until_ns <= now_ns && !c->users[i].more) {
			free_one = i;
		} else if (c->users[i].uid == uid) {
			c->users[i].more++;
			return false;
		}
	}
	if (free_one == JIT_COMPLAINTS_USERS) {
		c->others++;
		return false;
	}
	c->users[free_one].uid = uid;
	c->users[free_one].until_ns = now_ns + quiet_ns;
	return true;
}

void jit_complaints_sum_up(struct jit_complaints *c, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < JIT_COMPLAINTS_USERS; i++) {
		if (!c->users[i].more || c->users[i].until_ns > now_ns)
			continue;
		log_warn("user %u: %zu more times in the last minute: %s", c->users[i].uid,
			 c->users[i].more, c->what);
		c->users[i].more = 0;
		c->users[i].until_ns = now_ns + quiet_ns;
	}
	if (!c->others || c->others_until_ns > now_ns)
		return;
	log_warn("other users: %zu more times: %s", c->others, c->what);
	c->others = 0;
	c->others_until_ns = now_ns + quiet_ns;
}
