/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/clock.h"
#include "identity/copy_limit.h"

enum { ROOT = 0, EVE = 1000, BOB = 1001, ALL = 20, OF_USER = 5 };

/* How many of @asked comparisons for @user are allowed. */
static unsigned int take(struct copy_limit *l, uid_t user, uint64_t now_ns, unsigned int asked)
{
	unsigned int taken = 0;

	while (asked--)
		taken += copy_limit_take(l, user, now_ns);
	return taken;
}

static void a_user_leaves_room_for_others(void)
{
	struct copy_limit l = { .all = ALL, .of_user = OF_USER };
	uint64_t now_ns = 5 * NS_PER_S;

	CHECK_EQ(take(&l, EVE, now_ns, 100), OF_USER);
	CHECK_EQ(take(&l, BOB, now_ns, 100), OF_USER);
	CHECK_EQ(take(&l, EVE, now_ns + NS_PER_S - 1, 100), 0);
	CHECK_EQ(take(&l, ROOT, now_ns, 100), ALL - 2 * OF_USER);
	CHECK_EQ(take(&l, BOB + 1, now_ns, 1), 0);
	CHECK_EQ(take(&l, EVE, now_ns + NS_PER_S, 100), OF_USER);
}

static void many_users_share_what_there_is(void)
{
	struct copy_limit l = { .all = COPY_LIMIT_MAX, .of_user = OF_USER };
	unsigned int taken = 0;
	uid_t user;

	for (user = 1; user < 10 * COPY_LIMIT_MAX; user++)
		taken += take(&l, user, NS_PER_S, 1);
	CHECK_EQ(taken, COPY_LIMIT_MAX);
}

TESTS(T(a_user_leaves_room_for_others), T(many_users_share_what_there_is))
