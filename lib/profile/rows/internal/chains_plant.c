/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/chains_plant.h"

#include "base/log.h"
#include "base/macro.h"
#include "base/mem.h"
#include "profile/rows/internal/chain_frames.h"
#include "profile/rows/internal/chains_take.h"
#include "profile/select/gather.h"
#include "chains/chain_read.h"
#include "chains/chain_union.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Where a node of the union was added to the tree last; 0: nowhere. Which code an offset means
 * depends on its role, and a chain has its end at its root, so it can be at several places: that is
 * right for these, and others are added again. */
struct knot {
	uint32_t in_tree;
	uint8_t role; /* enum code_role */
	uint8_t end;
};
static_assert(sizeof(struct knot) == 8, "there are millions");

/* What nodes have instead of the outermost frame of their chain. */
enum { INVALID = 0 };
static const uint32_t ROOT = UINT32_MAX;

/* What is known of a place of a tree, of which there are much fewer than of nodes. Each node asks
 * for it, so it is one byte: those of all places stay in the cache. */
enum place_state {
	IS_KNOWN = 0x1,	 /* it was looked at */
	IS_REGION = 0x2, /* memory of a process: whose it is may be learned each time */
	IN_KERNEL = 0x4
};

/* The functions of a place that was looked at: by role, id of the row + 1; 0: unknown, or there are
 * several. */
struct place {
	uint32_t functions[CODE_ROLE_COUNT_];
};

/* More of it. */
struct origin {
	struct chain_frame frame; /* of the reader */
	uint32_t image;		  /* of the gather */
	uint32_t called, sampled; /* as in struct chain_frames_code */
	bool is_function;
};

/* Whether chains are wanted whose innermost frame is in an image. */
struct verdict {
	uint32_t context; /* that was asked for last */
	int want;
};

struct plant {
	struct chains_collect *collect;
	struct chains_source *source;
	struct chain_union all; /* what is looked at now, and its nodes and places, by number */
	struct knot *knots;	/* NULL: only the applications of chains are wanted */
	uint32_t *outer;	/* by node: the outermost frame of its chain, ROOT or INVALID */
	/* By node, if there are steps of time: where its chain ends, and its task. Else NULL. */
	uint32_t *ends, *tasks;
	uint8_t *states; /* by place: enum place_state */
	struct place *places;
	struct origin *origins;
	struct verdict *verdicts; /* by image of the reader */
	/* The chain that was looked at last: many next to each other have these in common. */
	uint32_t last, context; /* its outermost frame, and of that: */
	struct chain_frame outermost;
	struct chains_line line; /* without samples, and with the end that was recorded */
	uint32_t function;	 /* that was found last */
	/* The root of chains of an application with an end, which was used last; 0: none was. */
	uint32_t base, base_app, base_end;
};

/* --- places --- */

/* Whether a place has an image of the reader, and was not looked at. */
static bool is_of(const struct plant *p, uint32_t number, uint32_t image)
{
	return !p->states[number] && p->origins[number].frame.image == image;
}

static void look(struct plant *p, uint32_t number, struct chain_frames_code *code)
{
	struct chains *c = p->collect->out;
	struct origin *o = &p->origins[number];

	o->image = p->source->images[o->frame.image];
	c->is_kernel[o->image] = chain_frames_is_kernel(p->collect->functions, o->image);
	p->states[number] =
		(uint8_t)(IS_KNOWN | (c->is_kernel[o->image] ? IN_KERNEL : 0) |
			  (c->gather->images[o->image].id.kind == SNAME_ANON ? IS_REGION : 0));
	if (c->apps_only)
		return;
	chain_frames_seek(p->collect->functions, &(struct chain_frame){ o->image, o->frame.offset },
			  code);
	o->called = code->called;
	o->sampled = code->sampled;
}

/* Looks at a place of a valid node, and at those of its image next to it: in a segment all of an
 * image are, by offset. */
static void look_around(struct plant *p, uint32_t number)
{
	const uint32_t image = p->origins[number].frame.image;
	struct chain_frames_code code = { 0 };

	while (number > 1 && is_of(p, number - 1, image))
		number--;
	for (; number <= p->all.place_count && is_of(p, number, image); number++)
		look(p, number, &code);
}

static uint32_t parent_of(const struct plant *p, uint32_t knot)
{
	return p->all.parents[knot];
}

/* What is known of the place of a valid node, which is looked at if it was not before. */
static uint8_t state_at(struct plant *p, uint32_t knot)
{
	const uint32_t number = p->all.place_of[knot];

	if (!p->states[number])
		look_around(p, number);
	return p->states[number];
}

/* More of it. */
static const struct origin *origin_at(struct plant *p, uint32_t knot)
{
	(void)state_at(p, knot);
	return &p->origins[p->all.place_of[knot]];
}

/* --- nodes --- */

/* The outermost frame of the chain of a node, if that of its parent is known. */
static uint32_t outer_of(const struct plant *p, uint32_t i)
{
	const uint32_t parent = parent_of(p, i);
	uint32_t outer;

	if (!parent)
		return chain_union_context(&p->all, i) ? ROOT : INVALID;
	outer = p->outer[parent];
	if (outer == INVALID || !p->all.places[p->all.place_of[i]].line)
		return INVALID;
	return outer == ROOT ? i : outer;
}

/* Finds the outermost frame of a valid node's chain, its context, and what its line is. */
static void find_outermost(struct plant *p, uint32_t knot)
{
	const uint32_t outer = p->outer[knot], root = parent_of(p, outer);

	if (p->last == outer)
		return;
	p->last = outer;
	p->outermost = p->origins[p->all.place_of[outer]].frame;
	p->context = chain_union_context(&p->all, root);
	p->line = chains_take_line(p->collect, p->context, 0);
}

/* Finds the place of the root of chains of an application with an end. What is merged is not found
 * in the tree any more, so they are kept. */
static uint32_t find_base(struct chains_collect *c, uint32_t app, uint32_t end)
{
	const uint64_t key = (uint64_t)app << 32 | end;
	struct call_tree *t = &c->out->tree;
	uintptr_t at = (uintptr_t)map_get(&c->bases, key);

	if (!at) {
		at = call_tree_child(t, 0, CHAINS_NODE_APP | app);
		if (c->out->ends[end].mark && !c->out->apps_only)
			at = call_tree_child(t, (uint32_t)at, CHAINS_NODE_END | end);
		(void)map_set(&c->bases, key, (void *)at);
	}
	return call_merge_base(&c->merge, (uint32_t)at);
}

/* The same, which is mostly that of the last chain. */
static uint32_t base_of(struct plant *p, uint32_t app, uint32_t end)
{
	if (p->base && p->base_app == app && p->base_end == end)
		return p->base;
	p->base_app = app;
	p->base_end = end;
	p->base = find_base(p->collect, app, end);
	return p->base;
}

/* A frame on the way inwards. */
struct step {
	uint32_t knot;
	enum code_role role;
};

/* Finds the only function of a frame, if it is simple. */
static bool find_function(struct plant *p, const struct origin *o, enum code_role role,
			  uint32_t *ret)
{
	const uint32_t code = role == CODE_CALLED    ? o->called
			      : role == CODE_SAMPLED ? o->sampled
						     : CHAIN_FRAMES_UNKNOWN;

	if (code == CHAIN_FRAMES_UNKNOWN)
		return false;
	*ret = chain_frames_row(p->collect->functions, o->image, code);
	return true;
}

/* Finds the functions of a frame, as chain_frames_find() does. */
static size_t find_functions(struct plant *p, const struct step *s, const uint32_t **ret)
{
	const struct origin *o = origin_at(p, s->knot);
	const struct chain_frame frame = { o->image, o->frame.offset };
	size_t n = 1;

	if (find_function(p, o, s->role, &p->function))
		*ret = &p->function;
	else
		n = chain_frames_look(p->collect->functions, &frame, s->role, ret);
	if (n == 1)
		p->places[p->all.place_of[s->knot]].functions[s->role] = **ret + 1;
	return n;
}

/* Adds the functions of a frame below @at. */
static uint32_t add_frame(struct plant *p, const struct step *s, uint32_t end, uint32_t at)
{
	struct call_merge *merge = &p->collect->merge;
	struct knot *knot = &p->knots[s->knot];
	const uint32_t *ids;
	uint32_t known;
	size_t n;

	(void)state_at(p, s->knot);
	known = p->places[p->all.place_of[s->knot]].functions[s->role];
	n = known ? 0 : find_functions(p, s, &ids);
	if (known)
		at = call_merge_add(merge, at, known - 1);
	while (n-- > 0)
		at = call_merge_add(merge, at, ids[n]);
	if (s->role != CODE_SAMPLED) { /* which is met once */
		knot->in_tree = at;
		knot->role = (uint8_t)s->role;
		knot->end = (uint8_t)end;
	}
	return at;
}

/* Where a frame is in the tree, if that is known for chains with this end; else 0. */
static uint32_t known_spot(const struct plant *p, const struct step *s, uint32_t end)
{
	const struct knot *k = &p->knots[s->knot];

	return k->role == s->role && k->end == end ? k->in_tree : 0;
}

/* The place of a valid node as the innermost of a chain. */
static uint32_t place_of(struct plant *p, uint32_t knot, const struct chains_line *line)
{
	struct step way[CHAIN_FRAMES_MAX];
	bool in_kernel = false, was_in_kernel;
	uint32_t at = 0;
	size_t depth = 0;

	for (; !at && parent_of(p, knot); knot = parent_of(p, knot)) {
		struct step *s = &way[depth];
		const uint8_t state = state_at(p, knot);

		if (depth == CHAIN_FRAMES_MAX)
			return 0;
		was_in_kernel = in_kernel;
		in_kernel = state & IN_KERNEL;
		if (state & IS_REGION)
			(void)chains_take_image(p->collect, origin_at(p, knot)->image, line->app);
		*s = (struct step){ knot, chain_frames_role(!depth, in_kernel, was_in_kernel) };
		at = known_spot(p, s, line->end);
		depth += !at;
	}
	if (!at)
		at = base_of(p, line->app, line->end);
	while (depth-- > 0)
		at = add_frame(p, &way[depth], line->end, at);
	return at;
}

/* The place of a chain whose functions must be known to know its end, or whether it is chosen; 0 if
 * it is not. */
static uint32_t place_of_frames(struct plant *p, const struct chain *chain,
				struct chains_line *line)
{
	struct chains_collect *c = p->collect;

	if (!chains_take_frames(c, chain, line))
		return 0;
	return call_merge_chain(&c->merge, base_of(p, line->app, line->end),
				c->out->frames + line->first, line->count);
}

/* The place of the chain of a node. */
static uint32_t find_place(struct plant *p, uint32_t knot, struct chains_line *line)
{
	struct chains_collect *c = p->collect;
	struct chain chain;

	if (c->out->apps_only)
		return base_of(p, line->app, line->end);
	if (!chain_filter_is_set(&c->filter) && !chain_ends_in_doubt(line->end))
		return place_of(p, knot, line);
	return chain_union_chain(&p->all, knot, &chain) ? place_of_frames(p, &chain, line) : 0;
}

/* Whether the chain of a node is selected, whose innermost frame is in @image; or -errno. */
static int is_wanted(const struct plant *p, uint32_t image)
{
	struct verdict *v = &p->verdicts[image];

	if (v->context != p->context)
		*v = (struct verdict){ p->context,
				       chains_take_want(p->collect, p->context, image) };
	return v->want;
}

/* Adds the chain that ends at a node, which is no root. */
static int plant_chain(struct plant *p, uint32_t knot)
{
	struct chains_collect *c = p->collect;
	const struct origin *o = origin_at(p, knot);
	struct chain_frame ends[2] = { o->frame }; /* all that the counting looks at */
	const struct chain chain = { ends, ARRAY_SIZE(ends), p->all.counts[knot], o->is_function,
				     0 };
	struct chains_line line;
	uint32_t at;
	int r;

	find_outermost(p, knot);
	ends[1] = p->outermost;
	r = is_wanted(p, o->frame.image);
	if (r != CHAINS_TAKE_YES)
		return MIN(r, 0);
	line = p->line;
	line.samples = chain.samples;
	at = find_place(p, knot, &line);
	if (p->ends)
		p->ends[knot] = at;
	if (p->tasks)
		p->tasks[knot] = chains_take_task(c, p->context);
	if (!at) {
		c->out->unchosen += line.samples;
		return 0;
	}
	chains_take_count(c, &chain, &line);
	call_merge_count(&c->merge, at, line.samples);
	chains_take_part(c, at, p->context, line.samples);
	return 0;
}

/* --- unions of trees --- */

/* Fetches what is needed of a node that is looked at soon. */
static void fetch(const struct plant *p, uint32_t knot)
{
	const uint32_t number = p->all.place_of[knot];

	__builtin_prefetch(&p->places[number]);
	__builtin_prefetch(&p->origins[number]);
}

/* Adds the chains that have samples. */
static int plant_chains(struct plant *p)
{
	enum { AHEAD = 24 };
	const struct chain_union *u = &p->all;
	size_t i;
	int r = 0;

	for (i = 1; i <= u->count; i++) /* parents come first */
		p->outer[i] = outer_of(p, (uint32_t)i);
	for (i = 0; i < u->sampled_count && r == 0; i++) {
		fetch(p, u->sampled[MIN(i + AHEAD, u->sampled_count - 1)]);
		if (p->outer[u->sampled[i]] != INVALID)
			r = plant_chain(p, u->sampled[i]);
	}
	return r;
}

/* Makes room for what is known of nodes and places, and reads the places. */
static void begin_union(struct plant *p)
{
	const size_t nodes = p->all.count + 1, places = (size_t)p->all.place_count + 1;
	const struct chains *c = p->collect->out;
	uint32_t i;

	p->last = 0;
	p->outer = xcalloc_whole(nodes, sizeof(*p->outer));
	if (!c->apps_only)
		p->knots = xcalloc_whole(nodes, sizeof(*p->knots));
	if (p->source->leaf)
		p->ends = xcalloc_whole(nodes, sizeof(*p->ends));
	if (p->source->leaf_tasks)
		p->tasks = xcalloc_whole(nodes, sizeof(*p->tasks));
	p->states = xcalloc(places, sizeof(*p->states));
	p->places = xcalloc(places, sizeof(*p->places));
	p->origins = xcalloc(places, sizeof(*p->origins));
	for (i = 1; i < places; i++) {
		struct origin *o = &p->origins[i];

		o->frame = chain_union_frame(&p->all, i, &o->is_function);
	}
}

static void forget(struct plant *p)
{
	free(STEAL(p->outer));
	free(STEAL(p->knots));
	free(STEAL(p->ends));
	free(STEAL(p->tasks));
	free(STEAL(p->states));
	free(STEAL(p->places));
	free(STEAL(p->origins));
}

/* Notes where the chains of the reader's nodes end: they have the numbers of the union. */
static void note_ends(struct plant *p)
{
	const struct chains_source *s = p->source;
	uint32_t i;

	for (i = p->all.begin; s->leaf && i < p->all.end; i++) {
		const uint32_t knot = s->leaf[i];

		s->leaf[i] = p->ends[knot];
		if (s->leaf_tasks)
			s->leaf_tasks[i] = p->tasks[knot];
	}
}

/* Adds the chains of a union. */
static int plant_union(struct plant *p)
{
	struct chains_collect *c = p->collect;
	int r;

	if (call_merge_is_full(&c->merge)) {
		chains_plant_merge(c);
		p->base = 0;
	}
	begin_union(p);
	r = plant_chains(p);
	note_ends(p);
	forget(p);
	c->nodes = p->all.end;
	return r;
}

/* Makes room for where each chain ends. */
static void make_leaves(struct plant *p, uint32_t count)
{
	const struct chains *c = p->collect->out;

	if (c->steps.count)
		p->source->leaf = xcalloc_whole(count, sizeof(*p->source->leaf));
	if (c->steps.count && c->tasks.count)
		p->source->leaf_tasks = xcalloc_whole(count, sizeof(*p->source->leaf_tasks));
	p->all.numbers = p->source->leaf;
}

int chains_plant(struct chains_collect *collect)
{
	const struct chains *c = collect->out;
	struct chain_reader *reader = collect->source->reader;
	struct plant p = { .collect = collect, .source = collect->source, .all.reader = reader };
	int r = 0;

	make_leaves(&p, chain_reader_nodes(reader));
	p.verdicts = xcalloc((size_t)chain_names_images(chain_reader_names(reader)) + 1,
			     sizeof(*p.verdicts));
	while (r == 0 && chain_union_next(&p.all))
		r = plant_union(&p);
	chain_union_done(&p.all);
	free(p.verdicts);
	if (p.source + 1 == c->sources + c->source_count) /* nothing more needs symbols */
		chain_frames_free(STEAL(collect->functions));
	chains_plant_merge(collect);
	collect->nodes = collect->merged_nodes = 0;
	return r;
}
