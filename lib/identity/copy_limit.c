/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/copy_limit.h"

#include "base/clock.h"

#include <assert.h>

/* The place of @user in the table; one that is not in it gets the next. There are never more users
 * than times that something was done. */
static unsigned int *count_of(struct copy_limit *l, uid_t user)
{
	unsigned int i = 0;

	while (i < l->user_count && l->users[i].user != user)
		i++;
	if (i == l->user_count) {
		l->users[i].user = user;
		l->users[i].count = 0;
	}
	return &l->users[i].count;
}

bool copy_limit_take(struct copy_limit *l, uid_t user, uint64_t now_ns)
{
	unsigned int *count;

	assert(l->all <= COPY_LIMIT_MAX);
	if (now_ns - l->second_ns >= NS_PER_S) {
		l->second_ns = now_ns;
		l->count = l->user_count = 0;
	}
	if (l->count >= l->all)
		return false;
	count = count_of(l, user);
	if (user && *count >= l->of_user)
		return false;
	l->user_count += !*count;
	l->count++;
	++*count;
	return true;
}
