/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/macro.h"
#include "driver/perf/code_memory.h"
#include "parser/parser_pages.h"

#include <errno.h>
#include <string.h>

enum { TGID = 7, PAGE = 0x401000, PAGES = 2, ASKED_MAX = 4096 };

/* A process whose pages have one of two contents, and who is asked for them. */
struct world {
	struct code_memory *code;
	uint8_t pages[PAGES][PARSER_PAGE_BYTES];
	unsigned int asked, answered;
	uint64_t waiting[ASKED_MAX]; /* pages that were asked for, in order */
};

static int ask(void *data, uint32_t tgid, uint64_t page)
{
	struct world *w = data;

	CHECK_EQ(tgid, TGID);
	CHECK_EQ(page % PARSER_PAGE_BYTES, 0);
	CHECK(w->asked < ASKED_MAX);
	w->waiting[w->asked++] = page;
	return -EINPROGRESS;
}

static void answer(struct world *w, int r)
{
	while (w->answered < w->asked) {
		uint64_t page = w->waiting[w->answered++];

		code_memory_answer(w->code, TGID, page, r,
				   w->pages[(page - PAGE) / PARSER_PAGE_BYTES % PAGES]);
	}
}

static void begin(struct world *w)
{
	*w = (struct world){ .code = code_memory_new(NULL, NULL) };
	code_memory_asker(w->code, ask, w);
}

static void end(struct world *w)
{
	code_memory_free(w->code);
}

/* Python makes a trampoline of 32 bytes for each function. */
static void a_page_is_asked_for_once_in_a_round(void)
{
	struct world w;
	uint64_t bytes = 0, at;

	begin(&w);
	memset(w.pages[0], 0x90, sizeof(w.pages[0]));
	for (at = PAGE; at < PAGE + 256; at += 32)
		CHECK_EQ(code_memory_read(w.code, TGID, at, &bytes), -EINPROGRESS);
	CHECK_EQ(w.asked, 1);
	answer(&w, 0);
	for (at = PAGE; at < PAGE + PARSER_PAGE_BYTES; at += 32) {
		CHECK_EQ(code_memory_read(w.code, TGID, at, &bytes), 0);
		CHECK_EQ(bytes, 0x9090909090909090);
	}
	CHECK_EQ(w.asked, 1);
	/* What is known is used until there is an answer. */
	code_memory_round(w.code);
	CHECK_EQ(code_memory_read(w.code, TGID, PAGE, &bytes), 0);
	CHECK_EQ(w.asked, 2);
	end(&w);
}

static void code_that_is_not_made_yet_is_asked_for_again(void)
{
	struct world w;
	uint64_t bytes = 0;
	unsigned int i;

	begin(&w);
	memset(w.pages[0], 0x90, 64);
	CHECK_EQ(code_memory_read(w.code, TGID, PAGE, &bytes), -EINPROGRESS);
	answer(&w, 0);
	CHECK_EQ(code_memory_read(w.code, TGID, PAGE + 64, &bytes), -EINPROGRESS);
	CHECK_EQ(w.asked, 2);
	memset(w.pages[0], 0x90, 96);
	answer(&w, 0);
	CHECK_EQ(code_memory_read(w.code, TGID, PAGE + 64, &bytes), 0);
	/* But not for ever. */
	for (i = 0; i < 10; i++) {
		(void)code_memory_read(w.code, TGID, PAGE + 1024, &bytes);
		answer(&w, 0);
	}
	CHECK_EQ(w.asked, 8);
	CHECK_EQ(code_memory_read(w.code, TGID, PAGE + 1024, &bytes), -EIO);
	end(&w);
}

static void what_was_read_outlives_the_process(void)
{
	struct world w;
	uint64_t bytes = 0;

	begin(&w);
	memset(w.pages[0], 0x90, sizeof(w.pages[0]));
	(void)code_memory_read(w.code, TGID, PAGE, &bytes);
	answer(&w, 0);
	code_memory_round(w.code);
	(void)code_memory_read(w.code, TGID, PAGE, &bytes);
	answer(&w, -ESRCH);
	CHECK_EQ(code_memory_read(w.code, TGID, PAGE + 8, &bytes), 0);
	CHECK_EQ(bytes, 0x9090909090909090);
	end(&w);
}

static void a_word_may_be_in_two_pages(void)
{
	struct world w;
	uint64_t bytes = 0, at = PAGE + PARSER_PAGE_BYTES - 3;

	begin(&w);
	memset(w.pages[0], 0x11, sizeof(w.pages[0]));
	memset(w.pages[1], 0x22, sizeof(w.pages[1]));
	CHECK_EQ(code_memory_read(w.code, TGID, at, &bytes), -EINPROGRESS);
	answer(&w, 0);
	CHECK_EQ(code_memory_read(w.code, TGID, at, &bytes), -EINPROGRESS);
	answer(&w, 0);
	CHECK_EQ(code_memory_read(w.code, TGID, at, &bytes), 0);
	CHECK_EQ(bytes, 0x2222222222111111);
	end(&w);
}

/* Reads a word in each page, as for the frames of a chain; returns how many are not known yet. */
static unsigned int walk(struct world *w, unsigned int pages)
{
	unsigned int i, unknown = 0;
	uint64_t bytes;

	for (i = 0; i < pages; i++)
		unknown += code_memory_read(w->code, TGID, PAGE + (uint64_t)i * PARSER_PAGE_BYTES,
					    &bytes) == -EINPROGRESS;
	return unknown;
}

/* The sample waits until all that was asked for is there, however much it is. */
static void no_page_drives_out_another_of_the_same_chain(void)
{
	static const unsigned int pages[] = { 200, 2000 };
	unsigned int asked;
	struct world w;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		begin(&w);
		memset(w.pages, 0x90, sizeof(w.pages));
		asked = walk(&w, pages[i]);
		CHECK(asked > 100);
		CHECK_EQ(w.asked, asked);
		answer(&w, 0);
		CHECK_EQ(walk(&w, pages[i]), 0);
		CHECK_EQ(w.asked, asked);
		/* In the next round there is room for others. */
		code_memory_round(w.code);
		CHECK_EQ(code_memory_read(w.code, TGID, PAGE + 0x40000000, &(uint64_t){ 0 }),
			 -EINPROGRESS);
		end(&w);
	}
}

TESTS(T(a_page_is_asked_for_once_in_a_round), T(code_that_is_not_made_yet_is_asked_for_again),
      T(what_was_read_outlives_the_process), T(a_word_may_be_in_two_pages),
      T(no_page_drives_out_another_of_the_same_chain))
