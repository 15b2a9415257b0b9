/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Divides what is limited. There is always some left for another user, and for another process of
 * the same user.
 *
 *	if (own < share_of_process(share_of_user(total, all, own), process))
 *		take one more
 */
#pragma once

#include "base/macro.h"

#include <stdint.h>

/* What a user may have of @total who has @own, when all users have @all: half of what the others
 * leave. */
static inline uint64_t share_of_user(uint64_t total, uint64_t all, uint64_t own)
{
	return (total - MIN(total, all - own)) / 2;
}

/* What a user whose share is @share may have in all when a process that has @process gets more: the
 * last quarter is for processes that have less than half. */
static inline uint64_t share_of_process(uint64_t share, uint64_t process)
{
	return process < share / 2 ? share : share / 4 * 3;
}
