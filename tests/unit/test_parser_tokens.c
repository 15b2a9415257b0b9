/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/clock.h"
#include "parser/internal/parser_tokens.h"

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
	const struct stat host = { .st_dev = 0x801 }, inside = { .st_dev = 0x35 },
			  another = { .st_dev = 0x36 }, user = { .st_dev = 0x35, .st_uid = 1000 };
	uint64_t owner = parser_owner(&inside, host.st_dev);

	CHECK_EQ(parser_owner(&host, host.st_dev), 0);
	CHECK_EQ(parser_owner(&user, host.st_dev), 1000);
	CHECK(parser_tokens_left(&t, owner, NS_PER_S));
	parser_tokens_spend(&t, owner, 20 * NS_PER_S);
	CHECK(!parser_tokens_left(&t, owner, NS_PER_S));
	CHECK(parser_tokens_left(&t, parser_owner(&another, host.st_dev), NS_PER_S));
	CHECK(parser_tokens_left(&t, 1000, NS_PER_S));
}

static void very_many_users_share_what_one_has(void)
{
	_cleanup_(parser_tokens_done) struct parser_tokens t = { 0 };
	uint32_t uid, served = 0;

	for (uid = 1; uid < 100000; uid++)
		if (parser_tokens_left(&t, uid, NS_PER_S)) {
			parser_tokens_spend(&t, uid, 20 * NS_PER_S);
			served++;
		}
	CHECK(served > 1000 && served < 2000);
	CHECK(t.users.count < 2000);
}

TESTS(T(a_user_who_took_much_waits_and_others_do_not), T(root_takes_what_it_needs),
      T(root_of_a_container_has_the_share_of_a_user), T(very_many_users_share_what_one_has))
