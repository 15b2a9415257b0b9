/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "parser/internal/parser_tokens.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdio.h>

/* A user may use this at once, and a tenth of all time in the long run. Users above the limit
 * share what one has. */
static const int64_t burst_ns = 20 * (int64_t)NS_PER_S;
enum { SHARE = 10, USERS_MAX = 1024 };

/* Owners that are not one user: root elsewhere, to which the number of the device is added; and all
 * users above the limit. */
#define ROOT_ELSEWHERE (1ULL << 63)
#define EVERYBODY_ELSE UINT64_MAX

struct user {
	int64_t left_ns;
	uint64_t since_ns;
};

/* What a user has left at @now_ns. */
static int64_t left(const struct user *user, uint64_t now_ns)
{
	uint64_t since = MIN(now_ns - user->since_ns, (uint64_t)burst_ns * SHARE);

	return MIN(user->left_ns + (int64_t)(since / SHARE), burst_ns);
}

/* Forgets the users who have as much as a new one. */
static void sweep(struct parser_tokens *t, uint64_t now_ns)
{
	struct map kept = MAP_INIT;

	map_for_each (&t->users, slot) {
		if (left(slot->value, now_ns) == burst_ns)
			free(slot->value);
		else
			(void)map_set(&kept, slot->key, slot->value);
	}
	map_done(&t->users);
	t->users = kept;
}

static struct user *find(struct parser_tokens *t, uint64_t owner)
{
	struct user *user = map_get(&t->users, owner);

	if (user || t->users.count < USERS_MAX || owner == EVERYBODY_ELSE)
		return user;
	return find(t, EVERYBODY_ELSE);
}

static ino_t namespace_of(uint32_t tgid)
{
	char path[32];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%u/ns/mnt", tgid);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

void parser_home_find(struct parser_home *ret)
{
	struct stat st;

	*ret = (struct parser_home){ .device = stat("/", &st) == 0 ? st.st_dev : 0,
				     .mounts = namespace_of(1) };
}

uint64_t parser_owner(const struct parser_home *home, const struct stat *st, uint32_t tgid)
{
	if (st->st_uid)
		return st->st_uid;
	if (st->st_dev != home->device ||
	    (tgid && home->mounts && namespace_of(tgid) != home->mounts))
		return ROOT_ELSEWHERE | st->st_dev;
	return 0;
}

bool parser_tokens_left(struct parser_tokens *t, uint64_t owner, uint64_t now_ns)
{
	struct user *user;

	if (!owner)
		return true;
	if (t->users.count >= USERS_MAX && !map_get(&t->users, owner))
		sweep(t, now_ns);
	user = find(t, owner);
	if (!user) {
		user = xcalloc(1, sizeof(*user));
		*user = (struct user){ burst_ns, now_ns };
		(void)map_set(&t->users, t->users.count < USERS_MAX ? owner : EVERYBODY_ELSE, user);
	}
	user->left_ns = left(user, now_ns);
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
