/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/evoffcpu.h"

#include "base/parse.h"
#include "event/event_types.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Of the event OFFCPU in events/software; those of the reasons follow. */
enum { CODE = 0xe010 };

/* In lists, and in capitals in the names of events. */
static const char *const names[] = {
	[OFFCPU_LOCK] = "lock",	  [OFFCPU_IO] = "io",	    [OFFCPU_SLEEP] = "sleep",
	[OFFCPU_QUEUE] = "queue", [OFFCPU_FAULT] = "fault", [OFFCPU_IDLE] = "idle",
};
static_assert(ARRAY_SIZE(names) == OFFCPU_REASON_COUNT_, "a name for each reason");

enum { ALL_BUT_IDLE = (1 << OFFCPU_REASON_COUNT_) - 1 - (1 << OFFCPU_IDLE) };

/* OFFCPU_REASON_COUNT_ if it is the name of none. */
static enum offcpu_reason reason_of(const char *name)
{
	enum offcpu_reason reason = 0;

	while (reason < OFFCPU_REASON_COUNT_ && strcasecmp(names[reason], name) != 0)
		reason++;
	return reason;
}

void evoffcpu_add(struct evoffcpu *o, const char *name)
{
	const char *end = strchr(name, '_');
	enum offcpu_reason reason = end ? reason_of(end + 1) : OFFCPU_REASON_COUNT_;

	if (reason < OFFCPU_REASON_COUNT_)
		o->reasons |= 1U << reason;
	else
		o->total = true;
}

/* Parses a length of time: "500us", "5ms", "1s". */
static int parse_time(const char *text, uint64_t *ret_us, struct error *err)
{
	static const struct {
		const char *name;
		uint64_t us;
	} units[] = { { "us", 1 }, { "ms", 1000 }, { "s", 1000000 } };
	size_t digits = strspn(text, "0123456789"), i;
	char number[16] = "";
	uint64_t value;

	if (digits < sizeof(number))
		memcpy(number, text, digits);
	for (i = 0; i < ARRAY_SIZE(units) && strcmp(text + digits, units[i].name) != 0;)
		i++;
	if (i == ARRAY_SIZE(units) || parse_u64(number, 0, UINT32_MAX, &value) < 0)
		return error_set(err, -EINVAL,
				 "'%s' is not a length of time, such as 500us, 5ms, 1s", text);
	*ret_us = value * units[i].us;
	return 0;
}

struct parse {
	struct evoffcpu *o;
	struct error *err;
};

static int add_word(const char *word, void *data)
{
	enum offcpu_reason reason = reason_of(word);
	struct parse *p = data;

	if (!strncmp(word, "min=", 4))
		return parse_time(word + 4, &p->o->min_us, p->err);
	if (!strcmp(word, "idle"))
		p->o->idle = true;
	else if (reason < OFFCPU_REASON_COUNT_)
		p->o->reasons |= 1U << reason;
	else if (!strcmp(word, "reasons"))
		p->o->reasons |= ALL_BUT_IDLE;
	else if (!strcmp(word, "wakers"))
		p->o->wakers = true;
	else if (!strcmp(word, "blocked"))
		p->o->blocked = true;
	else
		return error_set(p->err, -EINVAL,
				 "'%s' is not one of reasons, lock, io, sleep, queue, "
				 "fault, idle, blocked, wakers, min=TIME",
				 word);
	return 0;
}

int evoffcpu_parse(const char *text, struct evoffcpu *o, struct error *err)
{
	struct evoffcpu own = *o;
	struct parse parse = { &own, err };
	int r = parse_list(text, ',', add_word, &parse);

	if (r < 0)
		return r;
	if (!own.reasons)
		own.total = true;
	else if (own.idle)
		own.reasons |= 1U << OFFCPU_IDLE;
	*o = own;
	return 0;
}

size_t evoffcpu_count(const struct evoffcpu *o)
{
	return o->total + (size_t)__builtin_popcount(o->reasons);
}

int evoffcpu_index(const struct evoffcpu *o, enum offcpu_reason reason)
{
	uint32_t bit = 1U << reason;

	if (reason == OFFCPU_QUEUE && o->blocked)
		return -1;
	if (o->reasons & bit)
		return o->total + __builtin_popcount(o->reasons & (bit - 1));
	return o->total && (o->idle || reason != OFFCPU_IDLE) ? 0 : -1;
}

void evoffcpu_event(const struct evoffcpu *o, size_t i, struct event *ret)
{
	enum offcpu_reason reason = 0;
	char *c;

	*ret = (struct event){
		.name = "OFFCPU", .count = 1, .code = CODE, .kernel = true, .user = true
	};
	if (o->total && i == 0)
		return;
	for (i -= o->total; !(o->reasons >> reason & 1) || i--;)
		reason++;
	(void)snprintf(ret->name, sizeof(ret->name), "OFFCPU_%s", names[reason]);
	for (c = ret->name; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	ret->code = CODE + 1 + (uint32_t)reason;
}
