/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/counters.h"

#include "base/mem.h"
#include "base/text.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

/* Makes two counters of one name an error of the compiler. */
enum {
#define X(name, ...) ID_##name,
	COUNTERS_OF_DRIVER(X) COUNTERS_OF_RECORD(X) COUNTERS_OF_SESSION(X)
#undef X
#define X(name, ...) ID_chain_##name,
		CHAIN_ENDS(X)
#undef X
			COUNT_
};

static const struct counter counters[] = {
#define X(name, kind, ...)                                                                         \
	{ #name, COUNTER_OF_DRIVER, COUNTER_##kind, offsetof(struct driver_stats, name),           \
	  __VA_ARGS__ },
	COUNTERS_OF_DRIVER(X)
#undef X
#define X(name, kind, ...)                                                                         \
	{ #name, COUNTER_OF_RECORD, COUNTER_##kind, offsetof(struct record_stats, name),           \
	  __VA_ARGS__ },
		COUNTERS_OF_RECORD(X)
#undef X
#define X(id, number, name, meaning)                                                               \
	{ "chain_" name, COUNTER_OF_CHAINS, COUNTER_INFO,                                          \
	  offsetof(struct record_stats, chain_ends[number]), "call chains, " meaning },
			CHAIN_ENDS(X)
#undef X
#define X(name, kind, ...) { #name, COUNTER_OF_SESSION, COUNTER_##kind, 0, __VA_ARGS__ },
				COUNTERS_OF_SESSION(X)
#undef X
};

static_assert(ARRAY_SIZE(counters) == COUNT_, "one row each");

const struct counter *counter_at(size_t i)
{
	return i < ARRAY_SIZE(counters) ? &counters[i] : NULL;
}

const struct counter *counter_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		if (!strcmp(counters[i].name, name))
			return &counters[i];
	return NULL;
}

const struct counter *counter_of_waits(const char *event)
{
	static const char prefix[] = "OFFCPU", squares[] = "offcpu_squares";
	size_t i, length = sizeof(prefix) - 1;

	if (strncmp(event, prefix, length) != 0)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		if (!strncmp(counters[i].name, squares, sizeof(squares) - 1) &&
		    !strcasecmp(counters[i].name + sizeof(squares) - 1, event + length))
			return &counters[i];
	return NULL;
}

uint64_t counter_value(const struct counter *c, const struct driver_stats *driver,
		       const struct record_stats *record)
{
	const void *stats = c->source == COUNTER_OF_DRIVER ? (const void *)driver : record;
	uint64_t value = 0;

	if (c->source != COUNTER_OF_SESSION)
		memcpy(&value, (const char *)stats + c->offset, sizeof(value));
	return value;
}

uint64_t *counter_place(const struct counter *c, void *stats)
{
	assert(c->source != COUNTER_OF_SESSION);
	return (uint64_t *)((char *)stats + c->offset);
}

char *counter_meaning(const struct counter *c)
{
	const char *text = c->text ? c->text : c->log;

	return c->remedy ? xasprintf("%s; %s", text, c->remedy) : xstrdup(text);
}

char *counter_text(const struct counter *c, uint64_t value)
{
	_cleanup_free_ char *meaning = counter_meaning(c);

	if (c->kind != COUNTER_LOST)
		return STEAL(meaning);
	return xasprintf("sample%s lost: %s", text_plural(value), meaning);
}
