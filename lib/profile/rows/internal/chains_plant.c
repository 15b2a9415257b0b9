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
	uint32_t outer;	 /* the outermost frame of its chain; of a root itself; 0: it is invalid */
	/* Where it was added to the tree last; 0: nowhere. Which code an offset means depends on
	 * its role, and a chain has its end at its root, so it can be at several places: that is
	 * right for these, and others are added again. */
	uint32_t in_tree;
	uint8_t role; /* enum code_role */
	uint8_t end;
};
static_assert(sizeof(struct knot) == 20, "there are millions");

/* What is known of a place of a part, of which there are much fewer than of nodes. It is small, so
 * that those of a part stay in the cache. */
struct place {
	/* By role: id of its row + 1; 0: unknown, or there are several. */
	uint32_t functions[CODE_ROLE_COUNT_];
	enum { UNCHECKED, BAD, GOOD, KNOWN } state : 8;
	/* If it is known: */
	bool is_region; /* memory of a process: whose it is may be learned each time */
	bool in_kernel;
};

/* More of a place that was looked at. */
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
	struct knot *knots;
	struct place *places;
	struct origin *origins;
	/* The chain that was looked at last: many next to each other have these in common. */
	uint32_t outer, context; /* of its outermost frame: */
	struct chain_frame outermost;
};

/* The number of a node of the part, for the reader. */
static uint32_t node_at(const struct plant *p, uint32_t knot)
{
	return p->part.first + knot - 1;
}

static bool is_bad(struct plant *p, uint32_t node, uint32_t number)
{
	struct place *place = &p->places[number];
	struct chain_frame frame;

	if (!number || place->state == UNCHECKED)
		place->state = chain_reader_frame(p->reader, node, &frame) ? GOOD : BAD;
	return place->state == BAD;
}

/* What is known of a node that was read, if that of its parent is. */
static struct knot knot_of(struct plant *p, uint32_t i, const struct chain_reader_node *n)
{
	const struct chain_reader_part *part = &p->part;
	struct knot k = { .outer = i };

	if (!n->parent)
		return k;
	k.parent = n->parent - part->first + 1;
	k.place = n->place ? n->place - part->first_place + 1 : 0;
	if (!p->knots[k.parent].outer || is_bad(p, node_at(p, i), k.place))
		k.outer = 0;
	else if (p->knots[k.parent].parent)
		k.outer = p->knots[k.parent].outer;
	return k;
}

/* Looks at the place of a valid node. Without a number, it is that of the node until the next call.
 */
static void look(struct plant *p, uint32_t knot)
{
	const uint32_t number = p->knots[knot].place;
	struct chains *c = p->collect->out;
	struct place *place = &p->places[number];
	struct origin *o = &p->origins[number];

	*o = (struct origin){ 0 };
	(void)chain_reader_frame(p->reader, node_at(p, knot), &o->frame);
	o->image = p->source->images[o->frame.image];
	*place = (struct place){ .state = KNOWN };
	place->is_region = c->gather->images[o->image].id.kind == SNAME_ANON;
	place->in_kernel = c->is_kernel[o->image] =
		chain_frames_is_kernel(p->collect->functions, o->image);
}

/* The place of a valid node, which is looked at if it was not before. */
static struct place *place_at(struct plant *p, uint32_t knot)
{
	const uint32_t number = p->knots[knot].place;

	if (!number || p->places[number].state != KNOWN)
		look(p, knot);
	return &p->places[number];
}

/* More of it. */
static struct origin *origin_at(struct plant *p, uint32_t knot)
{
	(void)place_at(p, knot);
	return &p->origins[p->knots[knot].place];
}

/* Finds the outermost frame of a valid node's chain, and its context. */
static void find_outermost(struct plant *p, uint32_t knot)
{
	const uint32_t outer = p->knots[knot].outer;
	struct chain_reader_node root;

	if (p->outer == outer)
		return;
	p->outer = outer;
	(void)chain_reader_frame(p->reader, node_at(p, outer), &p->outermost);
	(void)chain_reader_node(p->reader, node_at(p, p->knots[outer].parent), &root);
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
	const struct origin *o = origin_at(p, s->knot);
	const struct chain_frame frame = { o->image, o->frame.offset };
	const size_t n = chain_frames_look(p->collect->functions, &frame, s->role, ret);

	if (n == 1)
		p->places[p->knots[s->knot].place].functions[s->role] = **ret + 1;
	return n;
}

/* Adds the functions of a frame below @at. */
static uint32_t add_frame(struct plant *p, const struct step *s, uint32_t end, uint32_t at)
{
	struct call_merge *merge = &p->collect->merge;
	const uint32_t known = place_at(p, s->knot)->functions[s->role];
	struct knot *knot = &p->knots[s->knot];
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
		const struct place *place = place_at(p, knot);

		if (depth == CHAIN_FRAMES_MAX)
			return 0;
		was_in_kernel = in_kernel;
		in_kernel = place->in_kernel;
		if (place->is_region)
			(void)chains_take_image(p->collect, origin_at(p, knot)->image, line->app);
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
static int plant_chain(struct plant *p, uint32_t knot, const struct chain_reader_node *n)
{
	struct chains_collect *c = p->collect;
	const uint32_t node = node_at(p, knot);
	struct origin *o = origin_at(p, knot);
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

/* Reads all nodes, and adds the chains that end at them: parents come first. */
static int plant_chains(struct plant *p)
{
	enum { FORGET_EVERY = 1 << 16 };
	struct chain_reader_node n;
	uint32_t i;
	int r = 0;

	for (i = 1; i <= p->part.count && r == 0; i++) {
		if (i % FORGET_EVERY == 0)
			chain_reader_forget_before(p->reader, node_at(p, i));
		p->knots[i] = (struct knot){ 0 };
		if (!chain_reader_node(p->reader, node_at(p, i), &n))
			continue;
		p->knots[i] = knot_of(p, i, &n);
		if (p->knots[i].outer && n.parent && n.samples)
			r = plant_chain(p, i, &n);
	}
	return r;
}

/* Adds the chains of one file. */
static int plant_part(struct plant *p, size_t i)
{
	int r;

	p->part = chain_reader_part(p->reader, i);
	p->outer = 0;
	memset(p->places, 0, ((size_t)p->part.place_count + 1) * sizeof(*p->places));
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
	p->knots = xcalloc(nodes + 1, sizeof(*p->knots));
	p->places = xcalloc(places + 1, sizeof(*p->places));
	p->origins = xcalloc(places + 1, sizeof(*p->origins));
}

static void plant_done(struct plant *p)
{
	free(p->knots);
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

/* --- the end --- */

/* Merges the chains, and gives what refers to them the numbers of nodes of the tree. */
static void merge(struct chains_collect *collect)
{
	struct chains *c = collect->out;
	struct call_merge *m = &collect->merge;
	uint32_t count, i;
	size_t k;

	call_merge_end(m, (uint32_t)c->rows.count);
	for (k = 0; k < c->part_count; k++)
		c->parts[k].line = call_merge_node(m, c->parts[k].line);
	for (k = 0; k < c->source_count; k++) {
		const struct chains_source *s = &c->sources[k];

		count = s->leaf ? chain_reader_nodes(s->reader) : 0;
		for (i = 0; i < count; i++)
			s->leaf[i] = call_merge_node(m, s->leaf[i]);
	}
}

static bool is_row(const struct call_node *node)
{
	return !(node->what & (CHAINS_NODE_APP | CHAINS_NODE_END));
}

/* The group that the row of a node is in. */
static uint32_t group_of(const struct call_node *node, const uint32_t *groups)
{
	return groups ? groups[node->what] : node->what;
}

uint64_t *chains_tree_totals(const struct chains *c, const uint32_t *groups)
{
	const struct call_tree *t = &c->tree;
	_cleanup_free_ uint64_t *totals = call_tree_totals(t);
	_cleanup_free_ uint32_t *open = xcalloc(c->rows.count + 1, sizeof(*open));
	uint64_t *sums = xcalloc(c->rows.count + 1, sizeof(*sums));
	uint32_t at = 0, i;

	/* In preorder; ->open has how often each group is among the callers of the next node. */
	for (i = call_tree_next(t, 0); i; i = call_tree_next(t, i)) {
		const struct call_node *n = &t->nodes[i];

		for (; at != n->parent; at = t->nodes[at].parent)
			if (is_row(&t->nodes[at]))
				open[group_of(&t->nodes[at], groups)]--;
		at = i;
		if (is_row(n) && !open[group_of(n, groups)]++)
			sums[group_of(n, groups)] += totals[i];
	}
	return sums;
}

static void set_totals(struct chains *c)
{
	_cleanup_free_ uint64_t *totals = chains_tree_totals(c, NULL);
	size_t i;

	for (i = 0; i < c->rows.count; i++)
		c->rows.rows[i].counts[CHAINS_INCLUSIVE] = totals[i];
}

void chains_plant_end(struct chains_collect *collect)
{
	struct chains *c = collect->out;
	const struct call_tree *t = &c->tree;
	_cleanup_free_ uint64_t *own = xcalloc(c->rows.count + 1, sizeof(*own));
	size_t i;

	merge(collect);
	for (i = 1; i < t->count; i++)
		if (is_row(&t->nodes[i]))
			own[t->nodes[i].what] += t->nodes[i].self;
	for (i = 0; i < c->rows.count; i++)
		c->rows.rows[i].counts[CHAINS_SELF] = own[i];
	if (!c->own_only)
		set_totals(c);
}
