/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/internal/evterm.h"

#include "base/strbuf.h"
#include "test.h"

#include <errno.h>

static void values_go_where_the_format_says(void)
{
	static const struct {
		const char *format;
		uint64_t value, words[EVTERM_WORDS];
		int r;
	} rows[] = {
		{ "config:0-7", 0x3c, { 0x3c }, 0 },
		{ "config:0-7", 0x100, { 0 }, -ERANGE },
		{ "config:18", 1, { 1 << 18 }, 0 },
		{ "config:18", 2, { 0 }, -ERANGE },
		{ "config:0-7,32-35", 0x1ff, { 0x1000000ff }, 0 },
		{ "config:0-7,32-35", 0xfff, { 0xf000000ff }, 0 },
		{ "config:0-7,32-35", 0x1000, { 0 }, -ERANGE },
		{ "config:0-7,32-35,59-60", 0x3fff, { 0x18000000000000ff | 0xf00000000 }, 0 },
		{ "config:8-15,32-57", 0x123, { 0x100002300 }, 0 },
		{ "config1:0-63", UINT64_MAX, { 0, UINT64_MAX }, 0 },
		{ "config2:63", 1, { 0, 0, 1ULL << 63 }, 0 },
		{ "config3:1,3,5", 7, { 0, 0, 0, 0x2a }, 0 },
		{ "config:0-7\n", 1, { 1 }, 0 },
	};
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t words[EVTERM_WORDS] = { 0 };
		struct evformat f;

		printf("# %s\n", rows[i].format);
		CHECK_EQ(evformat_parse(rows[i].format, &f), 0);
		CHECK_EQ(evformat_put(&f, rows[i].value, words), rows[i].r);
		for (k = 0; k < EVTERM_WORDS; k++)
			CHECK_EQ(words[k], rows[i].words[k]);
	}
}

static void a_value_takes_the_place_of_another(void)
{
	uint64_t words[EVTERM_WORDS] = { UINT64_MAX };
	struct evformat f;

	CHECK_EQ(evformat_parse("config:8-15", &f), 0);
	CHECK_EQ(evformat_put(&f, 0x12, words), 0);
	CHECK_EQ(words[EVTERM_CONFIG], 0xffffffffffff12ff);
}

static void what_is_no_format_is_refused(void)
{
	static const char *const rows[] = {
		"",	     "config",	   "config:",	 "config:a",
		"config:0-", "config:7-0", "config:64",	 "config:0-64",
		"config4:0", "confi:0",	   "config:0,0", "config:0-7,7-8",
		"config:0,", "config:0;1", "config:-1",	 "config:0 -7",
		"attr:0",    "config:1,0",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct evformat f;

		if (evformat_parse(rows[i], &f) != -EINVAL) {
			printf("# '%s'\n", rows[i]);
			CHECK(!"is refused");
		}
	}
}

static int collect(const struct evterm *term, void *data)
{
	struct strbuf *out = data;

	strbuf_addf(out, "[%s %" PRIu64 "%s%s]", term->name, term->value, term->given ? " =" : "",
		    term->open ? " ?" : "");
	return 0;
}

static void lists_have_terms(void)
{
	static const struct {
		const char *text, *terms;
		int r;
	} rows[] = {
		{ "event=0x3c", "[event 60 =]", 0 },
		{ "event=10,edge,umask=0x2", "[event 10 =][edge 1][umask 2 =]", 0 },
		{ "domain=1,chip=?", "[domain 1 =][chip 1 = ?]", 0 },
		{ "", "", 0 },
		{ "=3", "", -EINVAL },
		{ "event=", "", -EINVAL },
		{ "event=x", "", -EINVAL },
		{ "event=1,,edge", "[event 1 =]", -EINVAL },
		{ "event=0x10000000000000000", "", -EINVAL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

		printf("# '%s'\n", rows[i].text);
		CHECK_EQ(evterm_each(rows[i].text, collect, &out), rows[i].r);
		CHECK_STR(strbuf_text(&out), rows[i].terms);
	}
}

TESTS(T(values_go_where_the_format_says), T(a_value_takes_the_place_of_another),
      T(what_is_no_format_is_refused), T(lists_have_terms))
