/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/chain_calls.h"

#include "base/hash.h"
#include "base/macro.h"
#include "base/map.h"
#include "base/mem.h"
#include "chains/chain_read.h"
#include "chains/chain_union.h"
#include "history/history_name.h"
#include "profile/rows/internal/chain_frames.h"
#include "profile/rows/internal/chains_take.h"
#include "profile/select/gather.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A frame of chains with the same outer frames. Callers come before what they call. */
struct call {
	uint32_t caller; /* 0: none */
	uint32_t place;	 /* number + 1 of its place; 0: only the function is known */
	uint64_t samples;
};

struct chain_calls {
	struct chain_calls_place *places;
	size_t place_count, place_room;
	struct call *calls; /* the first one is none */
	size_t call_count, call_room;
	uint32_t *of_place; /* calls by place: those of place i from first_of[i] on */
	uint32_t *first_of;
};

/* A node of a union of trees. */
struct knot {
	uint32_t context; /* 0: it is invalid */
	uint32_t calls[CODE_ROLE_COUNT_];
};

/* A frame of its nodes, in the place that they have there. */
struct spot {
	struct chain_frame frame; /* of the reader */
	bool is_function, in_kernel, is_wanted;
	uint32_t places
		[CODE_ROLE_COUNT_]; /* numbers + 1 of the places in these roles; 0: not known */
};

/* A union being read. */
struct reading {
	struct chains_collect collect;
	const struct chain_calls_wanted *wanted; /* NULL: all places */
	struct chain_calls *out;
	struct map by_hash; /* of places: number + 1 */
	struct chain_union all;
	struct knot *knots;
	bool *concerned; /* by node: whether it, or one of its callers, is in a wanted place */
	struct spot *spots;
};

/* The number + 1 of a place, which is added if it is new. */
static uint32_t number_of(struct reading *r, const struct chain_calls_place *wanted)
{
	struct chain_calls *c = r->out;
	const uint64_t hash =
		hash_add(hash_add(hash_u64(wanted->offset), wanted->image), (uint64_t)wanted->role);
	uintptr_t number;

	map_for_each_of(&r->by_hash, hash, number)
	{
		const struct chain_calls_place *place = &c->places[number - 1];

		if (place->offset == wanted->offset && place->image == wanted->image &&
		    place->role == wanted->role)
			return (uint32_t)number;
	}
	array_grow(&c->places, c->place_count + 1, &c->place_room);
	c->places[c->place_count++] = *wanted;
	map_add(&r->by_hash, hash, (void *)(uintptr_t)c->place_count);
	return (uint32_t)c->place_count;
}

/* The number + 1 of the place of a node's frame in a role; 0: which code it is is not known. */
static uint32_t place_of(struct reading *r, uint32_t knot, enum code_role role)
{
	struct spot *s = &r->spots[r->all.place_of[knot]];

	if (s->frame.offset == HISTORY_RARE || (role == CODE_SAMPLED && s->is_function))
		return 0;
	if (!s->places[role])
		s->places[role] = number_of(
			r, &(struct chain_calls_place){ r->collect.source->images[s->frame.image],
							role, s->frame.offset });
	return s->places[role];
}

static uint32_t parent_of(const struct reading *r, uint32_t knot)
{
	return r->all.parents[knot];
}

static bool in_kernel(const struct reading *r, uint32_t knot)
{
	return r->spots[r->all.place_of[knot]].in_kernel;
}

/* The call of a node in a role, or of the next one outwards whose place is wanted. It is added, as
 * its callers are, if it is new. 0: there is none. */
static uint32_t call_of(struct reading *r, uint32_t knot, enum code_role role)
{
	struct chain_calls *c = r->out;
	const uint32_t parent = parent_of(r, knot);
	uint32_t caller = 0;

	if (r->knots[knot].calls[role] || !r->concerned[knot])
		return r->knots[knot].calls[role];
	if (parent_of(r, parent))
		caller =
			call_of(r, parent,
				chain_frames_role(false, in_kernel(r, parent), in_kernel(r, knot)));
	if (!r->spots[r->all.place_of[knot]].is_wanted)
		return r->knots[knot].calls[role] = caller;
	array_grow(&c->calls, c->call_count + 1, &c->call_room);
	c->calls[c->call_count] = (struct call){ caller, place_of(r, knot, role), 0 };
	return r->knots[knot].calls[role] = (uint32_t)c->call_count++;
}

/* Finds the context of each node, and which ones are concerned. */
static void find_contexts(struct reading *r)
{
	uint32_t i;

	for (i = 1; i <= r->all.count; i++) { /* parents come first */
		const uint32_t parent = parent_of(r, i);
		const struct spot *s = &r->spots[r->all.place_of[i]];

		if (!parent)
			r->knots[i].context = chain_union_context(&r->all, i);
		else if (s->frame.image)
			r->knots[i].context = r->knots[parent].context;
		r->concerned[i] = parent && (s->is_wanted || r->concerned[parent]);
	}
}

/* Adds the chain that ends at a node. 0 or -errno. */
static int read_chain(struct reading *r, uint32_t knot)
{
	const uint32_t context = r->knots[knot].context;
	uint32_t call;
	int wanted;

	if (!context || !r->concerned[knot])
		return 0;
	wanted =
		chains_take_want(&r->collect, context, r->spots[r->all.place_of[knot]].frame.image);
	if (wanted != CHAINS_TAKE_YES)
		return MIN(wanted, 0);
	call = call_of(r, knot, CODE_SAMPLED); /* calls move */
	r->out->calls[call].samples += r->all.counts[knot];
	return 0;
}

static bool is_wanted(const struct reading *r, const struct chain_frame *frame)
{
	const struct chain_calls_wanted *w = r->wanted;
	const uint32_t image = r->collect.source->images[frame->image];
	size_t i;

	if (!w)
		return true;
	for (i = FIRST_NOT(k, 0, w->count, w->list[k].image < image);
	     i < w->count && w->list[i].image == image; i++)
		if (frame->offset >= w->list[i].begin && frame->offset <= w->list[i].end)
			return true;
	return false;
}

static void read_spots(struct reading *r)
{
	const struct chain_names *names = chain_reader_names(r->all.reader);
	uint32_t i;

	for (i = 1; i <= r->all.place_count; i++) {
		struct spot *s = &r->spots[i];

		s->frame = chain_union_frame(&r->all, i, &s->is_function);
		s->in_kernel = s->frame.image && chain_names_is_kernel(names, s->frame.image);
		s->is_wanted = s->frame.image && is_wanted(r, &s->frame);
	}
}

static int read_union(struct reading *r)
{
	int status = 0;
	size_t i;

	r->knots = xcalloc_whole(r->all.count + 1, sizeof(*r->knots));
	r->concerned = xcalloc(r->all.count + 1, sizeof(*r->concerned));
	r->spots = xcalloc((size_t)r->all.place_count + 1, sizeof(*r->spots));
	read_spots(r);
	find_contexts(r);
	for (i = 0; i < r->all.sampled_count && status == 0; i++)
		status = read_chain(r, r->all.sampled[i]);
	free(r->knots);
	free(r->concerned);
	free(r->spots);
	return status;
}

static int read_sources(struct reading *r)
{
	struct chains *c = r->collect.out;
	int status = 0;
	size_t i;

	for (i = 0; i < c->source_count && status == 0; i++) {
		r->collect.source = &c->sources[i];
		r->all = (struct chain_union){ .reader = c->sources[i].reader };
		while (status == 0 && chain_union_next(&r->all))
			status = read_union(r);
		chain_union_done(&r->all);
		map_done(&r->collect.wanted);
	}
	map_done(&r->by_hash);
	return status;
}

/* --- order --- */

static int by_place(const void *a, const void *b, void *data)
{
	const struct chain_calls_place *places = data;
	const struct chain_calls_place *x = &places[*(const uint32_t *)a],
				       *y = &places[*(const uint32_t *)b];

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->role > y->role) - (x->role < y->role);
}

/* Sorts the places. */
static void sort_places(struct chain_calls *c)
{
	const size_t n = c->place_count;
	_cleanup_free_ uint32_t *order = xcalloc(n + 1, sizeof(*order));
	_cleanup_free_ uint32_t *now = xcalloc(n + 1, sizeof(*now));
	struct chain_calls_place *sorted = xcalloc(n + 1, sizeof(*sorted));
	size_t i;

	for (i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, n, sizeof(*order), by_place, c->places);
	for (i = 0; i < n; i++) {
		sorted[i] = c->places[order[i]];
		now[order[i]] = (uint32_t)i;
	}
	for (i = 1; i < c->call_count; i++)
		if (c->calls[i].place)
			c->calls[i].place = now[c->calls[i].place - 1] + 1;
	free(c->places);
	c->places = sorted;
}

/* Finds the calls of each place, and adds to each the samples of what it called. */
static void arrange(struct chain_calls *c)
{
	size_t i;

	sort_places(c);
	c->first_of = xcalloc(c->place_count + 2, sizeof(*c->first_of));
	c->of_place = xcalloc(c->call_count + 1, sizeof(*c->of_place));
	for (i = 1; i < c->call_count; i++)
		c->first_of[c->calls[i].place + 1]++;
	for (i = 1; i < c->place_count + 2; i++)
		c->first_of[i] += c->first_of[i - 1];
	/* Those of place i are from first_of[i + 1] on, and, when all are there, from
	 * first_of[i]: place 0 is none. */
	for (i = 1; i < c->call_count; i++)
		c->of_place[c->first_of[c->calls[i].place]++] = (uint32_t)i;
	for (i = c->call_count; i-- > 1;)
		c->calls[c->calls[i].caller].samples += c->calls[i].samples;
}

int chain_calls_collect(struct chains *chains, const struct chain_calls_wanted *wanted,
			struct chain_calls **ret, struct error *err)
{
	_cleanup_(chain_calls_freep) struct chain_calls *c = xcalloc(1, sizeof(*c));
	struct reading r = { .collect = { .out = chains, .err = err }, .wanted = wanted, .out = c };
	int status;

	array_grow(&c->calls, 1, &c->call_room);
	c->calls[c->call_count++] = (struct call){ 0 };
	status = read_sources(&r);
	if (status == 0 && !c->place_count)
		status = error_set(err, -ENODATA, "%s: no call chain matches the specification",
				   chains->gather->sessions[0].samples);
	if (status < 0)
		return status;
	arrange(c);
	*ret = STEAL(c);
	return 0;
}

void chain_calls_free(struct chain_calls *c)
{
	if (!c)
		return;
	free(c->places);
	free(c->calls);
	free(c->of_place);
	free(c->first_of);
	free(c);
}

size_t chain_calls_count(const struct chain_calls *c)
{
	return c->place_count;
}

const struct chain_calls_place *chain_calls_place(const struct chain_calls *c, size_t i)
{
	return &c->places[i];
}

size_t chain_calls_first(const struct chain_calls *c, uint32_t image, uint64_t offset)
{
	return FIRST_NOT(i, 0, c->place_count,
			 c->places[i].image < image ||
				 (c->places[i].image == image && c->places[i].offset < offset));
}

/* --- keys --- */

/* The keys of a place: the first of ->items, and the others by ->next. */
struct chain_keys_list {
	uint32_t first; /* index + 1; 0: none */
};

struct chain_keys_item {
	uint32_t key, next;
};

static uint32_t first_of(const struct chain_keys *k, size_t place)
{
	return place >= k->from && place < k->to ? k->lists[place].first : 0;
}

static bool has_key(const struct chain_keys *k, size_t place, uint32_t key)
{
	uint32_t at;

	for (at = first_of(k, place); at; at = k->items[at - 1].next)
		if (k->items[at - 1].key == key)
			return true;
	return false;
}

void chain_keys_add(struct chain_keys *k, const struct chain_calls *c, size_t place, uint32_t key)
{
	if (has_key(k, place, key))
		return;
	if (!k->lists) {
		k->lists = xcalloc(c->place_count + 1, sizeof(*k->lists));
		k->from = place;
	}
	k->from = MIN(k->from, place);
	k->to = MAX(k->to, place + 1);
	array_grow(&k->items, k->count + 1, &k->room);
	k->items[k->count++] = (struct chain_keys_item){ key, k->lists[place].first };
	k->lists[place].first = (uint32_t)k->count;
}

void chain_keys_done(struct chain_keys *k)
{
	free(k->lists);
	free(k->items);
	*k = CHAIN_KEYS_INIT;
}

/* Whether one of the callers of a call has the key. */
static bool is_within(const struct chain_calls *c, const struct chain_keys *k, uint32_t call,
		      uint32_t key)
{
	uint32_t at;

	for (at = c->calls[call].caller; at; at = c->calls[at].caller)
		if (c->calls[at].place && has_key(k, c->calls[at].place - 1, key))
			return true;
	return false;
}

/* Adds a call of a place to the sum of a key: samples count at the outermost call, except for those
 * of the place itself. */
static void add_call(const struct chain_calls *c, const struct chain_keys *k, uint32_t call,
		     uint32_t key, uint64_t *sums)
{
	const struct call *at = &c->calls[call];
	const bool is_sample = c->places[at->place - 1].role == CODE_SAMPLED;

	if (is_sample == is_within(c, k, call, key))
		sums[key] += is_sample ? -at->samples : at->samples;
}

void chain_calls_sum(const struct chain_calls *c, const struct chain_keys *k, uint64_t *sums)
{
	size_t place;
	uint32_t i, at;

	for (place = k->from; place < k->to; place++)
		for (i = c->first_of[place]; i < c->first_of[place + 1]; i++)
			for (at = first_of(k, place); at; at = k->items[at - 1].next)
				add_call(c, k, c->of_place[i], k->items[at - 1].key, sums);
}
