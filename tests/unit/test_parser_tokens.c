/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/clock.h"
#include "parser/internal/parser_tokens.h"

#include <unistd.h>

static void a_user_who_took_much_waits_and_others_do_not(void)
{
	_cleanup_(parser_tokens_done) struct parser_tokens t = { 0 };
	uint64_t now = 1000 * NS_PER_S;
	int files = 0;

	while (parser_tokens_left(&t, 1000, now) && files < 1000) {
		parser_tokens_spend(&t, 1000, 5 * NS_PER_S);
		files++;
	}
	CHECK_EQ(files, 4);
	CHECK(parser_tokens_left(&t, 1001, now));
	CHECK(parser_tokens_left(&t, 0, now));
	/* A tenth of the time comes back. */
	CHECK(!parser_tokens_left(&t, 1000, now));
	CHECK(parser_tokens_left(&t, 1000, now + NS_PER_S));
	parser_tokens_spend(&t, 1000, 5 * NS_PER_S);
	CHECK(!parser_tokens_left(&t, 1000, now + 45 * NS_PER_S));
	CHECK(parser_tokens_left(&t, 1000, now + 60 * NS_PER_S));
}

static void root_takes_what_it_needs(void)
{
	_cleanup_(parser_tokens_done) struct parser_tokens t = { 0 };
	int i;

	for (i = 0; i < 100; i++) {
		CHECK(parser_tokens_left(&t, 0, NS_PER_S));
		parser_tokens_spend(&t, 0, 10 * NS_PER_S);
	}
}

static void root_of_a_container_has_the_share_of_a_user(void)
{
	_cleanup_(parser_tokens_done) struct parser_tokens t = { 0 };
	const struct parser_home home = { .device = 0x801 };
	const struct stat host = { .st_dev = 0x801 }, inside = { .st_dev = 0x35 },
			  another = { .st_dev = 0x36 }, user = { .st_dev = 0x35, .st_uid = 1000 };
	uint64_t owner = parser_owner(&home, &inside, 0);

	CHECK_EQ(parser_owner(&home, &host, 0), 0);
	CHECK_EQ(parser_owner(&home, &user, 0), 1000);
	CHECK(parser_tokens_left(&t, owner, NS_PER_S));
	parser_tokens_spend(&t, owner, 20 * NS_PER_S);
	CHECK(!parser_tokens_left(&t, owner, NS_PER_S));
	CHECK(parser_tokens_left(&t, parser_owner(&home, &another, 0), NS_PER_S));
	CHECK(parser_tokens_left(&t, 1000, NS_PER_S));
}

/* A container with a directory of the host: the device is the same. */
static void so_has_a_process_with_mounts_of_its_own(void)
{
	const struct stat file = { .st_dev = 0x801 };
	struct parser_home home;
	struct stat own;

	CHECK_EQ(stat("/proc/self/ns/mnt", &own), 0);
	home = (struct parser_home){ 0x801, own.st_ino };
	CHECK_EQ(parser_owner(&home, &file, (uint32_t)getpid()), 0);
	home.mounts++;
	CHECK(parser_owner(&home, &file, (uint32_t)getpid()) != 0);
	/* Of one that has exited, nobody knows. */
	CHECK(parser_owner(&home, &file, 0x7f000000) != 0);
	home.mounts = 0;
	CHECK_EQ(parser_owner(&home, &file, (uint32_t)getpid()), 0);
	parser_home_find(&home);
	CHECK_EQ(stat("/", &own), 0);
	CHECK_EQ(home.device, own.st_dev);
}

/* Has files of users @first to @last read; returns how many users had time left. */
static uint32_t serve(struct parser_tokens *t, uint32_t first, uint32_t last, uint64_t now_ns)
{
	uint32_t uid, served = 0;

	for (uid = first; uid <= last; uid++)
		if (parser_tokens_left(t, uid, now_ns)) {
			parser_tokens_spend(t, uid, 20 * NS_PER_S);
			served++;
		}
	return served;
}

static void very_many_users_share_what_one_has(void)
{
	_cleanup_(parser_tokens_done) struct parser_tokens t = { 0 };
	uint32_t served = serve(&t, 1, 5000, NS_PER_S);

	CHECK(served > 1000 && served < 2000);
	CHECK(t.users.count < 2000);
}

static void users_of_long_ago_leave_room_for_others(void)
{
	_cleanup_(parser_tokens_done) struct parser_tokens t = { 0 };

	CHECK(serve(&t, 1, 5000, NS_PER_S) < 2000);
	CHECK_EQ(serve(&t, 100001, 100500, 400 * NS_PER_S), 500);
	/* These have used theirs. */
	CHECK_EQ(serve(&t, 100001, 100500, 400 * NS_PER_S), 0);
}

TESTS(T(a_user_who_took_much_waits_and_others_do_not), T(root_takes_what_it_needs),
      T(root_of_a_container_has_the_share_of_a_user), T(so_has_a_process_with_mounts_of_its_own),
      T(very_many_users_share_what_one_has), T(users_of_long_ago_leave_room_for_others))
