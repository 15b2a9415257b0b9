/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/hot_code.h"

#include "base/strbuf.h"
#include "parser/parser_places.h"
#include "test.h"

#include <inttypes.h>

/* Adds "COOKIE:OFFSET,..." to the text @data. */
static void describe(void *data, uint64_t cookie, const struct parser_places *hottest)
{
	uint32_t i;

	strbuf_addf(data, "%" PRIu64 ":", cookie);
	for (i = 0; i < hottest->count; i++)
		strbuf_addf(data, "%" PRIx64 ",", hottest->offsets[i]);
	strbuf_adds(data, " ");
}

static void the_hottest_come_first(void)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	struct hot_code h = { .slots = NULL };

	hot_code_count(&h, 1, 0x10, 5);
	hot_code_count(&h, 2, 0x20, 3);
	hot_code_count(&h, 2, 0x30, 4);
	hot_code_count(&h, 2, 0x20, 2);
	hot_code_count(&h, 3, 0x10, 1);
	hot_code_take(&h, describe, &text);
	CHECK(!strcmp(strbuf_text(&text), "2:20,30, 1:10, 3:10, "));
	/* All is forgotten. */
	hot_code_count(&h, 3, 0x40, 1);
	hot_code_take(&h, describe, &text);
	CHECK(!strcmp(strbuf_text(&text), "2:20,30, 1:10, 3:10, 3:40, "));
	hot_code_take(&h, describe, &text);
	CHECK(!strcmp(strbuf_text(&text), "2:20,30, 1:10, 3:10, 3:40, "));
	hot_code_done(&h);
}

static void add_up(void *data, uint64_t cookie, const struct parser_places *hottest)
{
	size_t *images = data;

	(void)cookie;
	CHECK(hottest->count > 0 && hottest->count <= PARSER_PLACES_MAX);
	++*images;
}

static void what_does_not_fit_is_left_out(void)
{
	struct hot_code h = { .slots = NULL };
	size_t images = 0;
	uint64_t i;

	for (i = 0; i < 100000; i++)
		hot_code_count(&h, i % 100, i, 1);
	CHECK_EQ(h.used, HOT_CODE_MAX);
	hot_code_count(&h, 0, 0, 1);
	hot_code_take(&h, add_up, &images);
	CHECK(images > 0 && images < 100);
	CHECK_EQ(h.used, 0);
	hot_code_done(&h);
}

TESTS(T(the_hottest_come_first), T(what_does_not_fit_is_left_out))
