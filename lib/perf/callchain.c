/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/callchain.h"

#include <linux/perf_event.h>

static const uint64_t mark_min = (uint64_t)PERF_CONTEXT_MAX,
		      in_kernel = (uint64_t)PERF_CONTEXT_KERNEL,
		      in_user = (uint64_t)PERF_CONTEXT_USER;

/* Says what @address is; false if it is left out. */
static bool classify(struct callchain *c, uint64_t address, struct callchain_frame *ret)
{
	bool user = c->mark == in_user, was_user = c->user_seen, was_leaf = !c->leaf_seen;

	if ((!user && c->mark != in_kernel) || (!user && c->user_seen))
		return false;
	c->leaf_seen = true;
	c->user_seen = user;
	ret->address = address;
	if (was_leaf)
		ret->kind = user ? CALLCHAIN_LEAF_USER : CALLCHAIN_LEAF_KERNEL;
	else if (user)
		ret->kind = was_user ? CALLCHAIN_CALLER : CALLCHAIN_ENTRY;
	else
		ret->kind = CALLCHAIN_KERNEL;
	return true;
}

bool callchain_next(struct callchain *c, struct callchain_frame *ret)
{
	uint64_t word;

	while (span_u64(&c->words, &word) == 0) {
		if (word >= mark_min) {
			c->mark = word;
			continue;
		}
		c->addresses++;
		if (classify(c, word, ret))
			return true;
	}
	return false;
}
