/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/sampler_chains.h"

#include "base/map.h"
#include "base/mem.h"
#include "driver/cookie.h"

#include <bpf/bpf.h>
#include <string.h>

/* With more than so many, those are forgotten that did not come for a while. */
enum { CHAINS_MANY = SAMPLER_CHAINS_MAX / 2 };
enum { IDLE_NS = 2000000000 };

struct chain {
	uint64_t id;
	uint64_t used_ns;
	enum evbuf_end end;
	bool forgotten; /* by the program, but it may have counted it before */
	uint32_t count;
	struct evbuf_frame frames[];
};

struct sampler_chains {
	struct sampler_images *images;
	struct cookie_table *cookies;
	int map;
	struct map by_id;
	uint64_t *forgotten; /* at the last pruning */
	size_t forgotten_count, forgotten_room;
};

struct sampler_chains *sampler_chains_new(struct sampler *sampler, struct sampler_images *images,
					  struct cookie_table *cookies)
{
	struct sampler_chains *t = xcalloc(1, sizeof(*t));

	t->images = images;
	t->cookies = cookies;
	t->map = sampler_map(sampler, "chains");
	return t;
}

void sampler_chains_free(struct sampler_chains *t)
{
	if (!t)
		return;
	map_for_each (&t->by_id, slot)
		free(slot->value);
	map_done(&t->by_id);
	free(t->forgotten);
	free(t);
}

/* Why the chain ends, in the words of the event buffer. */
static enum evbuf_end end_of(unsigned int end)
{
	static const enum evbuf_end ends[] = {
		[UNWIND_GOING] = EVBUF_END_UNKNOWN,
		[UNWIND_COMPLETE] = EVBUF_END_COMPLETE,
		[UNWIND_NO_MAPPING] = EVBUF_END_NO_MAPPING,
		[UNWIND_NO_TABLE] = EVBUF_END_NO_TABLE,
		[UNWIND_NO_ROW] = EVBUF_END_NO_RULE,
		[UNWIND_RULE] = EVBUF_END_NO_RULE,
		[UNWIND_REGISTER] = EVBUF_END_NO_RULE,
		[UNWIND_UNREADABLE] = EVBUF_END_UNREADABLE,
		[UNWIND_TRUNCATED] = EVBUF_END_COPY_SHORT,
		[UNWIND_LOOP] = EVBUF_END_NO_PROGRESS,
		[UNWIND_DEPTH] = EVBUF_END_DEPTH,
		[SAMPLE_END_NOT_LOADED] = EVBUF_END_NOT_LOADED,
		[UNWIND_BUDGET] = EVBUF_END_NO_BUDGET,
		[SAMPLE_END_NO_CODE] = EVBUF_END_NO_CODE,
		[SAMPLE_END_FRAME_POINTERS] = EVBUF_END_FP_END,
		[SAMPLE_END_NO_USER] = EVBUF_END_NO_USER,
	};
	static_assert(ARRAY_SIZE(ends) == SAMPLE_END_COUNT_, "an end for each reason");

	return end < ARRAY_SIZE(ends) ? ends[end] : EVBUF_END_UNKNOWN;
}

/* The cookie of a frame, EVBUF_NO_COOKIE if its file is not known. */
static uint64_t frame_cookie(struct sampler_chains *t, const struct sample_frame *f, uint32_t tgid,
			     uint64_t now_ns)
{
	const char *label = "anon";

	switch ((enum sample_place)(f->place_offset >> SAMPLE_FRAME_PLACE_SHIFT)) {
	case SAMPLE_FILE:
		return sampler_images_cookie(t->images, &f->image.file, tgid, now_ns);
	case SAMPLE_VDSO:
		return cookie_vdso(t->cookies);
	case SAMPLE_HEAP:
		label = "[heap]";
		break;
	case SAMPLE_STACK:
		label = "[stack]";
		break;
	case SAMPLE_ANON:
		break;
	case SAMPLE_KERNEL:
	case SAMPLE_PLACE_COUNT_:
		return EVBUF_NO_COOKIE;
	}
	return cookie_anon(t->cookies, tgid, f->image.region.start, f->image.region.end, label);
}

/* Makes the frames; the first that cannot be told ends the chain. */
static void fill_frames(struct sampler_chains *t, struct chain *c, const struct sample_chain *from,
			uint64_t now_ns)
{
	const uint64_t offset_mask = (1ULL << SAMPLE_FRAME_PLACE_SHIFT) - 1;
	struct sample_frame f;
	uint64_t cookie;
	uint32_t at;

	for (at = 0; at < from->kernel_count && at < from->words; at++)
		c->frames[c->count++] = (struct evbuf_frame){ EVBUF_KERNEL, from->data[at] };
	for (; at + SAMPLE_FRAME_WORDS <= from->words; at += SAMPLE_FRAME_WORDS) {
		memcpy(&f, &from->data[at], sizeof(f));
		cookie = frame_cookie(t, &f, from->tgid, now_ns);
		if (cookie == EVBUF_NO_COOKIE) {
			c->end = EVBUF_END_UNKNOWN;
			return;
		}
		c->frames[c->count++] =
			(struct evbuf_frame){ cookie, f.place_offset & offset_mask };
	}
}

void sampler_chains_add(struct sampler_chains *t, const struct sample_chain *from, uint64_t now_ns)
{
	size_t kernel = MIN(from->kernel_count, from->words);
	size_t most = kernel + (from->words - kernel) / SAMPLE_FRAME_WORDS;
	struct chain *c = xcalloc(1, sizeof(*c) + most * sizeof(c->frames[0]));

	c->id = from->id;
	c->used_ns = now_ns;
	c->end = end_of(from->end);
	fill_frames(t, c, from, now_ns);
	/* One that was forgotten, and came back before that was noticed here. */
	free(map_set(&t->by_id, c->id, c));
}

size_t sampler_chains_get(struct sampler_chains *t, uint64_t id, uint64_t now_ns,
			  struct evbuf_frame *frames, size_t room, enum evbuf_end *ret)
{
	struct chain *c = id ? map_get(&t->by_id, id) : NULL;
	size_t count;

	*ret = EVBUF_END_UNKNOWN;
	if (!c)
		return 0;
	c->used_ns = now_ns;
	count = MIN((size_t)c->count, room);
	memcpy(frames, c->frames, count * sizeof(*frames));
	*ret = c->end;
	return count;
}

/* Frees what the program was told to forget the last time and did not tell of again: what it had
 * counted by then has been drained since. */
static void free_forgotten(struct sampler_chains *t)
{
	size_t i;

	for (i = 0; i < t->forgotten_count; i++) {
		struct chain *c = map_get(&t->by_id, t->forgotten[i]);

		if (c && c->forgotten)
			free(map_remove(&t->by_id, c->id));
	}
	t->forgotten_count = 0;
}

static void forget(struct sampler_chains *t, struct chain *c)
{
	(void)bpf_map_delete_elem(t->map, &c->id);
	c->forgotten = true;
	array_grow(&t->forgotten, t->forgotten_count + 1, &t->forgotten_room);
	t->forgotten[t->forgotten_count++] = c->id;
}

void sampler_chains_prune(struct sampler_chains *t, uint64_t now_ns)
{
	/* The fuller it is, the less is enough to go. */
	uint64_t idle = t->by_id.count > CHAINS_MANY + CHAINS_MANY / 2 ? 0 : IDLE_NS;

	free_forgotten(t);
	if (t->by_id.count < CHAINS_MANY)
		return;
	map_for_each (&t->by_id, slot) {
		struct chain *c = slot->value;

		if (c->used_ns + idle < now_ns)
			forget(t, c);
	}
}
