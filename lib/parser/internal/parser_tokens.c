/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "parser/internal/parser_tokens.h"

#include "base/clock.h"
#include "base/mem.h"

/* A user may use this at once, and a tenth of all time in the long run. Users above the limit
 * share what one has. */
static const int64_t burst_ns = 20 * (int64_t)NS_PER_S;
enum { SHARE = 10, USERS_MAX = 1024 };

/* Owners that are not one user: root on another device, whose number is added; and all users above
 * the limit. */
#define ROOT_ELSEWHERE (1ULL << 63)
#define EVERYBODY_ELSE UINT64_MAX

struct user {
	int64_t left_ns;
	uint64_t since_ns;
};

static struct user *find(struct parser_tokens *t, uint64_t owner)
{
	struct user *user = map_get(&t->users, owner);

	if (user || t->users.count < USERS_MAX || owner == EVERYBODY_ELSE)
		return user;
	return find(t, EVERYBODY_ELSE);
}

uint64_t parser_owner(const struct stat *st, dev_t device)
{
	if (st->st_uid)
		return st->st_uid;
	return st->st_dev == device ? 0 : ROOT_ELSEWHERE | st->st_dev;
}

bool parser_tokens_left(struct parser_tokens *t, uint64_t owner, uint64_t now_ns)
{
	struct user *user = find(t, owner);
	uint64_t since;

	if (!owner)
		return true;
	if (!user) {
		user = xcalloc(1, sizeof(*user));
		*user = (struct user){ burst_ns, now_ns };
		(void)map_set(&t->users, t->users.count < USERS_MAX ? owner : EVERYBODY_ELSE, user);
	}
	since = MIN(now_ns - user->since_ns, (uint64_t)burst_ns * SHARE);
	user->left_ns = MIN(user->left_ns + (int64_t)(since / SHARE), burst_ns);
	user->since_ns = now_ns;
	return user->left_ns > 0;
}

void parser_tokens_spend(struct parser_tokens *t, uint64_t owner, uint64_t ns)
{
	struct user *user = owner ? find(t, owner) : NULL;

	if (user)
		user->left_ns -= (int64_t)MIN(ns, (uint64_t)burst_ns);
}

void parser_tokens_done(struct parser_tokens *t)
{
	map_for_each (&t->users, slot)
		free(slot->value);
	map_done(&t->users);
}
