/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/internal/backlog.h"

#include "base/clock.h"
#include "base/mem.h"
#include "identity/cookie.h"

#include <string.h>

/* Longer than a file system that hangs keeps the finder from the next question
 * (identity/opener.h); and 16 MiB. */
enum { WORDS_MAX = 2 << 20 };
#define WAIT_NS (3 * NS_PER_S)

/* Moves the parts that wait to the front, when as many have been taken: on a host where something
 * always waits, the array would grow for ever. */
static void move_up(struct backlog *b)
{
	size_t waiting = b->end - b->first;

	if (!b->first || b->first < waiting)
		return;
	memmove(b->parts, b->parts + b->first, waiting * sizeof(*b->parts));
	b->first = 0;
	b->end = waiting;
}

void backlog_put(struct backlog *b, const uint64_t *words, size_t count, uint64_t asked)
{
	move_up(b);
	array_grow(&b->parts, b->end + 1, &b->room);
	b->parts[b->end++] = (struct backlog_part){
		.words = xmemdup(words, count * sizeof(*words)),
		.count = count,
		.asked = asked,
		.since_ns = clock_now_ns(),
	};
	b->words += count;
	b->put++;
}

bool backlog_has_room(const struct backlog *b)
{
	return b->words <= WORDS_MAX;
}

bool backlog_take(struct backlog *b, struct cookie_table *cookies, struct backlog_part *ret)
{
	const struct backlog_part *next = &b->parts[b->first];

	if (backlog_is_empty(b))
		return false;
	if (backlog_has_room(b) && clock_now_ns() - next->since_ns < WAIT_NS &&
	    !cookie_await(cookies, next->asked, 0))
		return false;
	*ret = *next;
	b->words -= ret->count;
	b->taken++;
	if (++b->first == b->end)
		b->first = b->end = 0;
	return true;
}

bool backlog_is_empty(const struct backlog *b)
{
	return b->first == b->end;
}

uint64_t backlog_asked(const struct backlog *b, size_t count)
{
	return count ? b->parts[b->first + count - 1].asked : 0;
}

void backlog_let_go(struct backlog *b, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		b->parts[b->first + i].asked = 0;
}

void backlog_release(struct backlog *b, struct cookie_table *cookies, int ms)
{
	const size_t count = b->end - b->first;

	(void)cookie_await(cookies, backlog_asked(b, count), ms);
	backlog_let_go(b, count);
}

void backlog_done(struct backlog *b)
{
	while (b->first < b->end)
		free(b->parts[b->first++].words);
	free(b->parts);
	*b = (struct backlog){ 0 };
}
