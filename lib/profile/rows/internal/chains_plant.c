/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/chains_plant.h"

#include "base/macro.h"
#include "base/mem.h"
#include "profile/rows/internal/chain_frames.h"
#include "profile/rows/internal/chains_take.h"
#include "profile/select/gather.h"
#include "chains/chain_read.h"

#include <assert.h>

/* Where a node of the files is in the tree. Which code an offset means depends on its role, and a
 * chain has its end at its root, so a node can be at several places. */
struct spot {
	uint32_t
		in_tree[CODE_ROLE_COUNT_ - 1]; /* by role, without that of the sample; 0: unknown */
	uint8_t end[CODE_ROLE_COUNT_ - 1];     /* of the chains for which that is right */
};
static_assert(CODE_SAMPLED == 0, "the innermost frame of a chain is met once");

/* What is known of a place: there are much fewer of them than nodes. */
struct place {
	uint32_t image; /* of the gather, + 1; 0: it was not looked at */
	bool in_kernel;
	bool is_region; /* memory of a process: whose it is may be learned each time */
	/* By role: id of its row + 1; 0: unknown, or there are several. */
	uint32_t functions[CODE_ROLE_COUNT_];
};

struct plant {
	struct chains_collect *collect;
	struct chain_reader *reader;
	/* The nodes that are looked at now, those of one file. What is known of each of them and of
	 * their places is in arrays that begin with the first one. */
	struct chain_reader_part part;
	/* The outermost frame of each node's chain; of a root itself; 0: invalid. */
	uint32_t *outer;
	struct chains_source *source;
	struct spot *spots;
	uint8_t *checked; /* of each place: enum checked */
	struct place *places;
	struct place unknown; /* of a node whose place has no number */
};

static struct spot *spot_of(const struct plant *p, uint32_t node)
{
	return &p->spots[node - p->part.first];
}

static uint32_t *outer_of(const struct plant *p, uint32_t node)
{
	return &p->outer[node - p->part.first];
}

/* What is known of a place that has a number. */
static struct place *known_place(const struct plant *p, uint32_t place)
{
	return &p->places[place - p->part.first_place];
}

/* Whether a place is one; apart from ->places, because all nodes are checked. */
enum checked { UNCHECKED, GOOD, BAD };

static bool is_bad(struct plant *p, uint32_t node, const struct chain_reader_node *n)
{
	struct chain_frame frame;
	uint8_t *checked;

	if (!n->place)
		return !chain_reader_frame(p->reader, node, &frame);
	checked = &p->checked[n->place - p->part.first_place];
	if (*checked == UNCHECKED)
		*checked = chain_reader_frame(p->reader, node, &frame) ? GOOD : BAD;
	return *checked == BAD;
}

/* The place of a valid node, which is looked at if it was not before. Borrowed until the next
 * call. */
static const struct place *look(struct plant *p, uint32_t node, const struct chain_reader_node *n)
{
	struct place *place = n->place ? known_place(p, n->place) : &p->unknown;
	const struct gather *g = p->collect->out->gather;
	struct chain_frame frame = { 0 };

	if (n->place && place->image)
		return place;
	(void)chain_reader_frame(p->reader, node, &frame);
	place->image = p->collect->source->images[frame.image] + 1;
	place->is_region = g->images[place->image - 1].id.kind == SNAME_ANON;
	place->in_kernel = chain_frames_is_kernel(p->collect->functions, place->image - 1);
	p->collect->out->is_kernel[place->image - 1] = place->in_kernel;
	return place;
}

/* Finds the outermost frame of each node: parents come first. */
static void find_outer(struct plant *p)
{
	const uint32_t first = p->part.first;
	_cleanup_free_ bool *is_root = xcalloc((size_t)p->part.count + 1, sizeof(*is_root));
	struct chain_reader_node node;
	uint32_t i;

	for (i = first; i - first < p->part.count; i++) {
		if (!chain_reader_node(p->reader, i, &node) || (node.parent && is_bad(p, i, &node)))
			continue;
		is_root[i - first] = !node.parent;
		*outer_of(p, i) = !node.parent || is_root[node.parent - first]
					  ? i
					  : *outer_of(p, node.parent);
		if (node.parent && !*outer_of(p, node.parent))
			*outer_of(p, i) = 0;
	}
}

/* The outermost frame of a valid node's chain, and its context. */
static struct chain_frame outermost(const struct plant *p, uint32_t node, uint32_t *ret_context)
{
	struct chain_reader_node outer, root;
	struct chain_frame frame = { 0 };

	(void)chain_reader_node(p->reader, *outer_of(p, node), &outer);
	(void)chain_reader_frame(p->reader, *outer_of(p, node), &frame);
	(void)chain_reader_node(p->reader, outer.parent, &root);
	*ret_context = root.context;
	return frame;
}

/* The place of the root of chains of an application with an end. */
static uint32_t base_of(struct chains *c, uint32_t app, uint32_t end)
{
	uint32_t at = call_tree_child(&c->tree, 0, CHAINS_NODE_APP | app);

	return c->ends[end].mark ? call_tree_child(&c->tree, at, CHAINS_NODE_END | end) : at;
}

/* A frame on the way inwards. */
struct step {
	uint32_t node, place;
	enum code_role role;
};

/* Finds the functions of a frame, as chain_frames_find() does. */
static size_t find_functions(struct plant *p, const struct step *s, const uint32_t **ret)
{
	struct chain_frame frame = { 0 };
	size_t n;

	(void)chain_reader_frame(p->reader, s->node, &frame);
	frame.image = p->collect->source->images[frame.image];
	if (!s->place)
		return chain_frames_find(p->collect->functions, frame.image, frame.offset, s->role,
					 ret);
	n = chain_frames_look(p->collect->functions, &frame, s->role, ret);
	if (n == 1)
		known_place(p, s->place)->functions[s->role] = **ret + 1;
	return n;
}

/* Adds the functions of a frame below @at. */
static uint32_t add_frame(struct plant *p, const struct step *s, uint32_t end, uint32_t at)
{
	struct call_tree *tree = &p->collect->out->tree;
	uint32_t known = s->place ? known_place(p, s->place)->functions[s->role] : 0;
	struct spot *spot = spot_of(p, s->node);
	const uint32_t *ids;
	size_t n = known ? 0 : find_functions(p, s, &ids);

	if (known)
		at = call_tree_child(tree, at, known - 1);
	while (n-- > 0)
		at = call_tree_child(tree, at, ids[n]);
	if (s->role != CODE_SAMPLED) {
		spot->in_tree[s->role - 1] = at;
		spot->end[s->role - 1] = (uint8_t)end;
	}
	return at;
}

/* Whether the place of a frame is known for chains with this end. */
static bool is_known(const struct plant *p, const struct step *s, uint32_t end)
{
	const struct spot *spot = spot_of(p, s->node);

	return s->role != CODE_SAMPLED && spot->in_tree[s->role - 1] &&
	       spot->end[s->role - 1] == end;
}

/* The place of a valid node as the innermost of a chain. */
static uint32_t place_of(struct plant *p, uint32_t node, const struct chains_line *line)
{
	struct step way[CHAIN_FRAMES_MAX];
	struct chain_reader_node n;
	bool in_kernel = false, was_in_kernel;
	uint32_t at = 0;
	size_t depth = 0;

	while (!at && chain_reader_node(p->reader, node, &n) && n.parent) {
		struct step *s = &way[depth];
		const struct place *place = look(p, node, &n);

		if (depth == CHAIN_FRAMES_MAX)
			return 0;
		was_in_kernel = in_kernel;
		s->node = node;
		s->place = n.place;
		in_kernel = place->in_kernel;
		if (place->is_region)
			(void)chains_take_image(p->collect, place->image - 1, line->app);
		s->role = chain_frames_role(!depth, in_kernel, was_in_kernel);
		if (is_known(p, s, line->end))
			at = spot_of(p, node)->in_tree[s->role - 1];
		else
			depth++;
		node = n.parent;
	}
	if (!at)
		at = base_of(p->collect->out, line->app, line->end);
	while (depth-- > 0)
		at = add_frame(p, &way[depth], line->end, at);
	return at;
}

/* The place of a chain whose functions must be known to know its end, or whether it is chosen; 0 if
 * it is not. */
static uint32_t place_of_frames(struct chains_collect *c, const struct chain *chain,
				struct chains_line *line)
{
	uint32_t at, i;

	if (!chains_take_frames(c, chain, line))
		return 0;
	at = base_of(c->out, line->app, line->end);
	for (i = line->count; i-- > 0;)
		at = call_tree_child(&c->out->tree, at, c->out->frames[line->first + i]);
	return at;
}

/* The place of the chain of a node. */
static uint32_t find_place(struct plant *p, uint32_t node, struct chains_line *line)
{
	struct chains_collect *c = p->collect;
	struct chain chain;
	uint32_t context;

	if (c->out->apps_only)
		return call_tree_child(&c->out->tree, 0, CHAINS_NODE_APP | line->app);
	if (!chain_filter_is_set(&c->filter) && !chain_ends_in_doubt(line->end))
		return place_of(p, node, line);
	return chain_reader_chain(p->reader, node, &context, &chain)
		       ? place_of_frames(c, &chain, line)
		       : 0;
}

/* Adds the chain that ends at a node, which is no root. */
static int plant_chain(struct plant *p, uint32_t node, const struct chain_reader_node *n)
{
	struct chains_collect *c = p->collect;
	struct chain_frame ends[2] = { 0 }; /* all that the counting looks at */
	const struct chain chain = { ends, ARRAY_SIZE(ends), n->samples, n->is_function, node };
	struct chains_line line;
	uint32_t context, at;
	int r;

	(void)chain_reader_frame(p->reader, node, &ends[0]);
	ends[1] = outermost(p, node, &context);
	r = chains_take_want(c, context, ends[0].image);
	if (r != CHAINS_TAKE_YES)
		return MIN(r, 0);
	line = chains_take_line(c, context, &chain);
	at = find_place(p, node, &line);
	if (p->source->leaf)
		p->source->leaf[node] = at;
	if (p->source->leaf_tasks)
		p->source->leaf_tasks[node] = chains_take_task(c, context);
	if (!at) {
		c->out->unchosen += line.samples;
		return 0;
	}
	chains_take_count(c, &chain, &line);
	c->out->tree.nodes[at].self += line.samples;
	chains_take_part(c, at, context, line.samples);
	return 0;
}

static int plant_chains(struct plant *p)
{
	const uint32_t first = p->part.first;
	struct chain_reader_node n;
	uint32_t i;
	int r = 0;

	for (i = first; i - first < p->part.count && r == 0; i++)
		if (*outer_of(p, i) && chain_reader_node(p->reader, i, &n) && n.parent && n.samples)
			r = plant_chain(p, i, &n);
	return r;
}

/* Adds the chains of one file. */
static int plant_part(struct plant *p, size_t i)
{
	const struct chain_reader_part part = chain_reader_part(p->reader, i);
	_cleanup_free_ uint32_t *outer = xcalloc((size_t)part.count + 1, sizeof(*outer));
	_cleanup_free_ struct spot *spots = xcalloc((size_t)part.count + 1, sizeof(*spots));
	_cleanup_free_ struct place *places =
		xcalloc((size_t)part.place_count + 1, sizeof(*places));
	_cleanup_free_ uint8_t *checked = xcalloc((size_t)part.place_count + 1, 1);
	int r;

	p->part = part;
	p->outer = outer;
	p->spots = spots;
	p->places = places;
	p->checked = checked;
	find_outer(p);
	r = plant_chains(p);
	chain_reader_forget_part(p->reader, i);
	return r;
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
	uint32_t count = chain_reader_nodes(reader);
	int r = 0;
	size_t i;

	make_leaves(&p, count);
	if (!collect->out->apps_only)
		call_tree_reserve(&collect->out->tree, count);
	for (i = 0; i < chain_reader_parts(reader) && r == 0; i++)
		r = plant_part(&p, i);
	return r;
}

/* --- sums --- */

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

void chains_plant_sum(struct chains *c)
{
	const struct call_tree *t = &c->tree;
	_cleanup_free_ uint64_t *own = xcalloc(c->rows.count + 1, sizeof(*own));
	size_t i;

	for (i = 1; i < t->count; i++)
		if (is_row(&t->nodes[i]))
			own[t->nodes[i].what] += t->nodes[i].self;
	for (i = 0; i < c->rows.count; i++)
		c->rows.rows[i].counts[CHAINS_SELF] = own[i];
	if (!c->own_only)
		set_totals(c);
}
