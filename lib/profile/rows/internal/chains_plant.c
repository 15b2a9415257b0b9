/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/chains_plant.h"

#include "base/macro.h"
#include "base/mem.h"
#include "profile/rows/internal/chain_frames.h"
#include "profile/rows/internal/chains_take.h"
#include "profile/select/gather.h"
#include "chains/chain_read.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A node of a file, whose numbers are those of the part, from 1 on. There can be millions. */
struct knot {
	uint32_t parent; /* 0: it is a root */
	uint32_t place;	 /* 0: not known */
	/* Where it was added to the tree last; 0: nowhere. Which code an offset means depends on
	 * its role, and a chain has its end at its root, so it can be at several places: that is
	 * right for these, and others are added again. */
	uint32_t in_tree;
	uint8_t role; /* enum code_role */
	uint8_t end;
};
static_assert(sizeof(struct knot) == 16, "there are millions");

/* What nodes have instead of the outermost frame of their chain. */
enum { INVALID = 0 };
static const uint32_t ROOT = UINT32_MAX;

/* What is known of a place of a part, of which there are much fewer than of nodes. Each node asks
 * for it, so it is one byte: those of all places stay in the cache. */
enum place_state { UNCHECKED, BAD, GOOD, KNOWN, STATE = 0x3 };
enum {
	/* If it is known: */
	IS_REGION = 0x4, /* memory of a process: whose it is may be learned each time */
	IN_KERNEL = 0x8
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
	uint32_t context;	  /* of the chains that ->want was asked for last */
	int want;
};

struct plant {
	struct chains_collect *collect;
	struct chain_reader *reader;
	struct chains_source *source;
	/* The nodes that are looked at now, those of one file, and what is known of their places,
	 * by number in the part. Place 0 is that of a node whose place has no number. */
	struct chain_reader_part part;
	struct knot *knots; /* NULL: only the applications of chains are wanted */
	uint32_t *outer;    /* by knot: the outermost frame of its chain, ROOT or INVALID */
	uint8_t *states;    /* enum place_state, with what else is known */
	struct place *places;
	struct origin *origins;
	/* The chain that was looked at last: many next to each other have these in common. */
	uint32_t last, context; /* its outermost frame, and of that: */
	struct chain_frame outermost;
};

/* The number of a node of the part, for the reader. */
static uint32_t node_at(const struct plant *p, uint32_t knot)
{
	return p->part.first + knot - 1;
}

static bool is_bad(struct plant *p, uint32_t node, uint32_t number)
{
	uint8_t *state = &p->states[number];
	struct chain_frame frame;

	if (!number || *state == UNCHECKED)
		*state = chain_reader_frame(p->reader, node, &frame) ? GOOD : BAD;
	return *state == BAD;
}

static struct knot knot_of(const struct plant *p, const struct chain_reader_node *n)
{
	const struct chain_reader_part *part = &p->part;

	return (struct knot){ .parent = n->parent ? n->parent - part->first + 1 : 0,
			      .place = n->place ? n->place - part->first_place + 1 : 0 };
}

/* The outermost frame of the chain of a node, if that of its parent is known. */
static uint32_t outer_of(struct plant *p, uint32_t i, const struct knot *k)
{
	uint32_t outer = k->parent ? p->outer[k->parent] : ROOT;

	if (!k->parent || outer == INVALID)
		return outer;
	if (is_bad(p, node_at(p, i), k->place))
		return INVALID;
	return outer == ROOT ? i : outer;
}

/* Looks at the place of a valid node. Without a number, it is that of the node until the next call.
 */
static void look(struct plant *p, uint32_t knot, uint32_t number)
{
	struct chains *c = p->collect->out;
	struct origin *o = &p->origins[number];

	*o = (struct origin){ 0 };
	(void)chain_reader_frame(p->reader, node_at(p, knot), &o->frame);
	o->image = p->source->images[o->frame.image];
	p->places[number] = (struct place){ 0 };
	c->is_kernel[o->image] = chain_frames_is_kernel(p->collect->functions, o->image);
	p->states[number] =
		(uint8_t)(KNOWN | (c->is_kernel[o->image] ? IN_KERNEL : 0) |
			  (c->gather->images[o->image].id.kind == SNAME_ANON ? IS_REGION : 0));
}

/* What is known of the place of a valid node, which is looked at if it was not before. */
static uint8_t state_at(struct plant *p, uint32_t knot, uint32_t number)
{
	if (!number || (p->states[number] & STATE) != KNOWN)
		look(p, knot, number);
	return p->states[number];
}

/* Its functions. */
static const struct place *place_at(struct plant *p, uint32_t knot, uint32_t number)
{
	(void)state_at(p, knot, number);
	return &p->places[number];
}

/* More of it. */
static struct origin *origin_at(struct plant *p, uint32_t knot, uint32_t number)
{
	(void)state_at(p, knot, number);
	return &p->origins[number];
}

/* Finds the outermost frame of a valid node's chain, and its context. */
static void find_outermost(struct plant *p, uint32_t knot)
{
	const uint32_t outer = p->outer[knot];
	struct chain_reader_node root;

	if (p->last == outer)
		return;
	p->last = outer;
	(void)chain_reader_frame(p->reader, node_at(p, outer), &p->outermost);
	(void)chain_reader_node(p->reader, node_at(p, outer), &root);
	(void)chain_reader_node(p->reader, root.parent, &root);
	p->context = root.context;
}

/* The place of the root of chains of an application with an end. */
static uint32_t base_of(struct chains_collect *c, uint32_t app, uint32_t end)
{
	struct call_tree *t = &c->out->tree;
	uint32_t at = call_tree_child(t, 0, CHAINS_NODE_APP | app);

	if (c->out->ends[end].mark && !c->out->apps_only)
		at = call_tree_child(t, at, CHAINS_NODE_END | end);
	return call_merge_base(&c->merge, at);
}

/* A frame on the way inwards. */
struct step {
	uint32_t knot;
	enum code_role role;
};

/* Finds the functions of a frame, as chain_frames_find() does. */
static size_t find_functions(struct plant *p, const struct step *s, const uint32_t **ret)
{
	const uint32_t place = p->knots[s->knot].place;
	const struct origin *o = origin_at(p, s->knot, place);
	const struct chain_frame frame = { o->image, o->frame.offset };
	const size_t n = chain_frames_look(p->collect->functions, &frame, s->role, ret);

	if (n == 1)
		p->places[place].functions[s->role] = **ret + 1;
	return n;
}

/* Adds the functions of a frame below @at. */
static uint32_t add_frame(struct plant *p, const struct step *s, uint32_t end, uint32_t at)
{
	struct call_merge *merge = &p->collect->merge;
	struct knot *knot = &p->knots[s->knot];
	const struct place *place = place_at(p, s->knot, knot->place);
	const uint32_t known = place->functions[s->role];
	const uint32_t *ids;
	size_t n = known ? 0 : find_functions(p, s, &ids);

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

	for (; !at && p->knots[knot].parent; knot = p->knots[knot].parent) {
		struct step *s = &way[depth];
		const uint32_t number = p->knots[knot].place;
		const uint8_t state = state_at(p, knot, number);

		if (depth == CHAIN_FRAMES_MAX)
			return 0;
		was_in_kernel = in_kernel;
		in_kernel = state & IN_KERNEL;
		if (state & IS_REGION)
			(void)chains_take_image(p->collect, origin_at(p, knot, number)->image,
						line->app);
		*s = (struct step){ knot, chain_frames_role(!depth, in_kernel, was_in_kernel) };
		at = known_spot(p, s, line->end);
		depth += !at;
	}
	if (!at)
		at = base_of(p->collect, line->app, line->end);
	while (depth-- > 0)
		at = add_frame(p, &way[depth], line->end, at);
	return at;
}

/* The place of a chain whose functions must be known to know its end, or whether it is chosen; 0 if
 * it is not. */
static uint32_t place_of_frames(struct chains_collect *c, const struct chain *chain,
				struct chains_line *line)
{
	if (!chains_take_frames(c, chain, line))
		return 0;
	return call_merge_chain(&c->merge, base_of(c, line->app, line->end),
				c->out->frames + line->first, line->count);
}

/* The place of the chain of a node. */
static uint32_t find_place(struct plant *p, uint32_t knot, struct chains_line *line)
{
	struct chains_collect *c = p->collect;
	struct chain chain;
	uint32_t context;

	if (c->out->apps_only)
		return base_of(c, line->app, line->end);
	if (!chain_filter_is_set(&c->filter) && !chain_ends_in_doubt(line->end))
		return place_of(p, knot, line);
	return chain_reader_chain(p->reader, node_at(p, knot), &context, &chain)
		       ? place_of_frames(c, &chain, line)
		       : 0;
}

/* Whether the chain of a node is selected, whose innermost frame is that of @o; or -errno. */
static int is_wanted(const struct plant *p, struct origin *o)
{
	if (o->context != p->context) {
		o->context = p->context;
		o->want = chains_take_want(p->collect, p->context, o->frame.image);
	}
	return o->want;
}

/* Adds the chain that ends at a node, which is no root. */
static int plant_chain(struct plant *p, uint32_t knot, uint32_t place,
		       const struct chain_reader_node *n)
{
	struct chains_collect *c = p->collect;
	const uint32_t node = node_at(p, knot);
	struct origin *o = origin_at(p, knot, place);
	struct chain_frame ends[2] = { o->frame }; /* all that the counting looks at */
	const struct chain chain = { ends, ARRAY_SIZE(ends), n->samples, n->is_function, node };
	struct chains_line line;
	uint32_t at;
	int r;

	find_outermost(p, knot);
	ends[1] = p->outermost;
	r = is_wanted(p, o);
	if (r != CHAINS_TAKE_YES)
		return MIN(r, 0);
	line = chains_take_line(c, p->context, &chain);
	at = find_place(p, knot, &line);
	if (p->source->leaf)
		p->source->leaf[node] = at;
	if (p->source->leaf_tasks)
		p->source->leaf_tasks[node] = chains_take_task(c, p->context);
	if (!at) {
		c->out->unchosen += line.samples;
		return 0;
	}
	chains_take_count(c, &chain, &line);
	call_merge_count(&c->merge, at, line.samples);
	chains_take_part(c, at, p->context, line.samples);
	return 0;
}

/* A node that was read. */
struct ahead {
	struct chain_reader_node node;
	struct knot knot;
	bool is_valid;
};

/* Reads a node, whose parent is anywhere: what is known of that is fetched meanwhile. */
static void read_ahead(const struct plant *p, uint32_t i, struct ahead *ret)
{
	ret->is_valid = chain_reader_node(p->reader, node_at(p, i), &ret->node);
	if (!ret->is_valid)
		return;
	ret->knot = knot_of(p, &ret->node);
	__builtin_prefetch(&p->outer[ret->knot.parent]);
	if (ret->node.samples)
		__builtin_prefetch(&p->origins[ret->knot.place]);
}

/* Adds the chain that ends at a node, if there is one. */
static int plant_node(struct plant *p, uint32_t i, const struct ahead *a)
{
	p->outer[i] = a->is_valid ? outer_of(p, i, &a->knot) : INVALID;
	if (p->outer[i] == INVALID)
		return 0;
	if (p->knots)
		p->knots[i] = a->knot;
	return a->node.parent && a->node.samples ? plant_chain(p, i, a->knot.place, &a->node) : 0;
}

/* Reads all nodes, and adds the chains that end at them: parents come first. */
static int plant_chains(struct plant *p)
{
	enum { AHEAD = 32, FORGET_EVERY = 1 << 16 };
	struct ahead nodes[AHEAD];
	uint32_t i, k, count;
	int r = 0;

	for (i = 1; i <= p->part.count && r == 0; i += count) {
		count = MIN(p->part.count - i + 1, (uint32_t)AHEAD);
		if (i % FORGET_EVERY == 1)
			chain_reader_forget_before(p->reader, node_at(p, i));
		for (k = 0; k < count; k++)
			read_ahead(p, i + k, &nodes[k]);
		for (k = 0; k < count && r == 0; k++)
			r = plant_node(p, i + k, &nodes[k]);
	}
	return r;
}

/* Adds the chains of one file. */
static int plant_part(struct plant *p, size_t i)
{
	int r;

	p->part = chain_reader_part(p->reader, i);
	p->last = 0;
	memset(p->states, 0, (size_t)p->part.place_count + 1);
	r = plant_chains(p);
	chain_reader_forget_part(p->reader, i);
	return r;
}

/* Makes room for the largest part: new memory for each would take longer. */
static void make_room(struct plant *p)
{
	size_t nodes = 0, places = 0, i;

	for (i = 0; i < chain_reader_parts(p->reader); i++) {
		const struct chain_reader_part part = chain_reader_part(p->reader, i);

		nodes = MAX(nodes, (size_t)part.count);
		places = MAX(places, (size_t)part.place_count);
	}
	if (!p->collect->out->apps_only)
		p->knots = xcalloc(nodes + 1, sizeof(*p->knots));
	p->outer = xcalloc(nodes + 1, sizeof(*p->outer));
	p->states = xcalloc(places + 1, sizeof(*p->states));
	p->places = xcalloc(places + 1, sizeof(*p->places));
	p->origins = xcalloc(places + 1, sizeof(*p->origins));
}

static void plant_done(struct plant *p)
{
	free(p->knots);
	free(p->outer);
	free(p->states);
	free(p->places);
	free(p->origins);
}

/* Makes room for where each chain ends. */
static void make_leaves(struct plant *p, uint32_t count)
{
	const struct chains *c = p->collect->out;

	if (c->steps.count)
		p->source->leaf = xcalloc(count, sizeof(*p->source->leaf));
	if (c->steps.count && c->tasks.count)
		p->source->leaf_tasks = xcalloc(count, sizeof(*p->source->leaf_tasks));
}

int chains_plant(struct chains_collect *collect)
{
	struct chain_reader *reader = collect->source->reader;
	struct plant p = { .collect = collect, .source = collect->source, .reader = reader };
	int r = 0;
	size_t i;

	make_leaves(&p, chain_reader_nodes(reader));
	make_room(&p);
	for (i = 0; i < chain_reader_parts(reader) && r == 0; i++)
		r = plant_part(&p, i);
	plant_done(&p);
	return r;
}
