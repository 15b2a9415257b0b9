/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/trace.h"

#include "base/log.h"
#include "base/mem.h"
#include "driver/evbuf.h"
#include "record/binary.h"
#include "sfile/chain_store.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

/* After the store could not be opened or added to, it is left alone for so long. */
enum { RETRY_AFTER_S = 5 };

struct trace {
	char *samples;
	const struct event *events;
	struct chain_store *store; /* NULL: not open */
	time_t retry_at;	   /* CLOCK_MONOTONIC seconds, 0: at once */

	bool on; /* a chain is being taken */
	bool broken;
	struct trace_owner owner;
	uint64_t weight;
	struct binary **images; /* of each frame */
	struct chain_frame *frames;
	size_t count, image_room, frame_room;

	/* The context used last. */
	struct trace_owner last_owner;
	uint64_t last_end;
	uint32_t last_context; /* 0: none */

	uint64_t ends[EVBUF_END_COUNT_], lost;
};

struct trace *trace_new(const char *samples, const struct event *events)
{
	struct trace *t = xcalloc(1, sizeof(*t));

	t->samples = xstrdup(samples);
	t->events = events;
	return t;
}

void trace_free(struct trace *t)
{
	if (!t)
		return;
	trace_close(t);
	free(t->samples);
	free(t->images);
	free(t->frames);
	free(t);
}

void trace_close(struct trace *t)
{
	chain_store_close(t->store);
	t->store = NULL;
	t->on = false;
	t->last_context = 0;
	t->retry_at = 0;
}

void trace_begin(struct trace *t, const struct trace_owner *owner, uint64_t weight)
{
	t->on = true;
	t->broken = false;
	t->owner = *owner;
	t->weight = weight;
	t->count = 0;
}

void trace_frame(struct trace *t, struct binary *image, uint64_t key)
{
	if (!t->on || t->broken)
		return;
	if (!image) {
		t->broken = true;
		return;
	}
	array_grow(&t->images, t->count + 1, &t->image_room);
	array_grow(&t->frames, t->count + 1, &t->frame_room);
	t->images[t->count] = image;
	t->frames[t->count++] = (struct chain_frame){ .offset = key };
}

static int number_of(struct trace *t, struct binary *image, uint32_t *ret, struct error *err)
{
	int r = 0;

	if (!image->chain_number)
		r = chain_store_image(t->store, &image->image, &image->chain_number, err);
	*ret = image->chain_number;
	return r;
}

static bool is_last(const struct trace *t, uint64_t end)
{
	const struct trace_owner *a = &t->owner, *b = &t->last_owner;

	return t->last_context && t->last_end == end && a->app == b->app && a->event == b->event &&
	       a->tgid == b->tgid && a->tid == b->tid && a->cpu == b->cpu;
}

static int find_context(struct trace *t, uint64_t end, struct error *err)
{
	const struct event *event = &t->events[t->owner.event];
	_cleanup_free_ char *name = NULL;
	struct chain_context context = { .end = evbuf_end_name(end),
					 .tgid = t->owner.tgid,
					 .tid = t->owner.tid,
					 .cpu = t->owner.cpu };
	int r;

	if (is_last(t, end))
		return 0;
	/* As in sample file names. */
	name = xasprintf("%s.%" PRId32 ".%" PRId32, event->name, (int32_t)event->count,
			 (int32_t)event->unit_mask);
	context.event = name;
	t->last_context = 0;
	r = number_of(t, t->owner.app, &context.app, err);
	if (r == 0)
		r = chain_store_context(t->store, &context, &t->last_context, err);
	t->last_owner = t->owner;
	t->last_end = end;
	return r;
}

static int store_chain(struct trace *t, uint64_t end, struct error *err)
{
	const struct chain chain = { t->frames, t->count, t->weight };
	size_t i;
	int r = 0;

	if (!t->store)
		r = chain_store_open(t->samples, &t->store, err);
	if (r == 0)
		r = find_context(t, end, err);
	for (i = 0; i < t->count && r == 0; i++)
		r = number_of(t, t->images[i], &t->frames[i].image, err);
	return r < 0 ? r : chain_store_add(t->store, t->last_context, &chain, err);
}

static time_t now_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

void trace_end(struct trace *t, uint64_t end)
{
	struct error err = ERROR_INIT;
	uint64_t why = t->broken ? (uint64_t)EVBUF_END_NO_MAPPING : end;
	int r;

	if (!t->on)
		return;
	t->on = false;
	t->ends[why] += t->weight;
	if (t->retry_at && now_s() < t->retry_at) {
		t->lost += t->weight;
		return;
	}
	r = store_chain(t, why, &err);
	if (r == 0) {
		t->retry_at = 0;
		return;
	}
	t->lost += t->weight;
	/* Images too many to be numbered: other chains are still stored. */
	if (r == -EOVERFLOW)
		return;
	log_error("%s", err.text);
	t->retry_at = now_s() + RETRY_AFTER_S;
}

const uint64_t *trace_ends(const struct trace *t)
{
	return t->ends;
}

uint64_t trace_lost(const struct trace *t)
{
	return t->lost;
}

size_t trace_memory(const struct trace *t)
{
	return t->store ? chain_store_memory(t->store) : 0;
}
