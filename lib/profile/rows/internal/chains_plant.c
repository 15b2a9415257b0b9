/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/chains_plant.h"

#include "base/macro.h"
#include "base/mem.h"
#include "profile/rows/internal/chain_frames.h"
#include "profile/rows/internal/chains_take.h"
#include "chains/chain_read.h"

/* Where a node of the files is in the tree. Which code an offset means depends on its role, and a
 * chain has its end at its root, so a node can be at several places. */
struct spot {
	uint32_t in_tree[CODE_ROLE_COUNT_]; /* by role; 0: unknown */
	uint8_t end[CODE_ROLE_COUNT_];	    /* of the chains for which that is right */
};

struct plant {
	struct chains_collect *collect;
	struct chain_reader *reader;
	uint32_t
		*outer; /* the outermost frame of each node's chain; of a root itself; 0: invalid */
	uint32_t *leaf; /* the place of each node whose chain is chosen; 0: none */
	struct spot *spots;
	/* Of each place, by role: id of its row + 1; 0: unknown, or there are several. */
	uint32_t (*functions)[CODE_ROLE_COUNT_];
	uint32_t count;
	int (*end)(const struct slice *slice, void *collect); /* NULL: no times are wanted */
};

/* Finds the outermost frame of each node: parents come first. */
static void find_outer(struct plant *p)
{
	_cleanup_free_ bool *is_root = xcalloc(p->count, sizeof(*is_root));
	struct chain_reader_node node;
	uint32_t i;

	for (i = 1; i < p->count; i++) {
		if (!chain_reader_node(p->reader, i, &node))
			continue;
		is_root[i] = !node.parent;
		p->outer[i] = !node.parent || is_root[node.parent] ? i : p->outer[node.parent];
		if (node.parent && !p->outer[node.parent])
			p->outer[i] = 0;
	}
}

/* The outermost frame of a valid node's chain, and its context. */
static struct chain_frame outermost(const struct plant *p, uint32_t node, uint32_t *ret_context)
{
	struct chain_reader_node outer, root;

	(void)chain_reader_node(p->reader, p->outer[node], &outer);
	(void)chain_reader_node(p->reader, outer.parent, &root);
	*ret_context = root.context;
	return outer.frame;
}

/* The place of the root of chains of an application with an end. */
static uint32_t base_of(struct chains *c, uint32_t app, uint32_t end)
{
	uint32_t at = call_tree_child(&c->tree, 0, CHAINS_NODE_APP | app);

	return c->ends[end].mark ? call_tree_child(&c->tree, at, CHAINS_NODE_END | end) : at;
}

/* A frame on the way inwards. */
struct step {
	uint32_t node, image, place;
	uint64_t offset;
	enum code_role role;
};

/* Finds the functions of a frame, as chain_frames_find() does. */
static size_t find_functions(struct plant *p, const struct step *s, const uint32_t **ret)
{
	size_t n = chain_frames_find(p->collect->functions, s->image, s->offset, s->role, ret);

	if (n == 1 && s->place)
		p->functions[s->place][s->role] = **ret + 1;
	return n;
}

/* Adds the functions of a frame below @at. */
static uint32_t add_frame(struct plant *p, const struct step *s, uint32_t end, uint32_t at)
{
	struct call_tree *tree = &p->collect->out->tree;
	uint32_t known = p->functions[s->place][s->role];
	struct spot *spot = &p->spots[s->node];
	const uint32_t *ids;
	size_t n = known ? 0 : find_functions(p, s, &ids);

	if (known)
		at = call_tree_child(tree, at, known - 1);
	while (n-- > 0)
		at = call_tree_child(tree, at, ids[n]);
	spot->in_tree[s->role] = at;
	spot->end[s->role] = (uint8_t)end;
	return at;
}

/* Whether the place of a frame is known for chains with this end. */
static bool is_known(const struct plant *p, const struct step *s, uint32_t end)
{
	const struct spot *spot = &p->spots[s->node];

	return spot->in_tree[s->role] && spot->end[s->role] == end;
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

		if (depth == CHAIN_FRAMES_MAX)
			return 0;
		was_in_kernel = in_kernel;
		s->node = node;
		s->image = p->collect->source->images[n.frame.image];
		s->offset = n.frame.offset;
		s->place = n.place;
		in_kernel = chains_take_image(p->collect, s->image, line->app);
		s->role = chain_frames_role(!depth, in_kernel, was_in_kernel);
		if (is_known(p, s, line->end))
			at = p->spots[node].in_tree[s->role];
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
	struct chain_frame ends[] = { n->frame, { 0 } }; /* all that the counting looks at */
	const struct chain chain = { ends, ARRAY_SIZE(ends), n->samples, n->is_function, node };
	struct chains_line line;
	uint32_t context, at;
	int r;

	ends[1] = outermost(p, node, &context);
	r = chains_take_want(c, context, n->frame.image);
	if (r != CHAINS_TAKE_YES)
		return MIN(r, 0);
	line = chains_take_line(c, context, &chain);
	at = p->leaf[node] = find_place(p, node, &line);
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
	struct chain_reader_node n;
	uint32_t i;
	int r = 0;

	for (i = 1; i < p->count && r == 0; i++)
		if (p->outer[i] && chain_reader_node(p->reader, i, &n) && n.parent && n.samples)
			r = plant_chain(p, i, &n);
	return r;
}

/* --- when --- */

static int take_moment(uint32_t none _unused_, const struct chain *chain, void *data)
{
	struct plant *p = data;
	struct chains_moment m = { .line = p->leaf[chain->node], .samples = chain->samples };
	uint32_t context;

	if (!m.line) /* not chosen, or of a slice that was written since */
		return 0;
	(void)outermost(p, chain->node, &context);
	m.task = chains_take_task(p->collect, context);
	chains_take_moment(p->collect, m);
	return 0;
}

static bool wants_slice(const struct slice *slice, void *data)
{
	const struct plant *p = data;

	return chains_take_slice(p->collect, slice);
}

static int end_slice(const struct slice *slice, void *data)
{
	struct plant *p = data;

	return p->end(slice, p->collect);
}

static int plant(struct plant *p)
{
	const struct chain_visitor when = { .nodes_only = true,
					    .steps = &p->collect->out->steps,
					    .wants = wants_slice,
					    .each = take_moment,
					    .end = end_slice,
					    .data = p };
	int r;

	find_outer(p);
	r = plant_chains(p);
	return r < 0 || !p->end ? r : chain_reader_each_slice(p->reader, &when);
}

int chains_plant(struct chains_collect *collect,
		 int (*end)(const struct slice *slice, void *collect))
{
	struct chain_reader *reader = collect->source->reader;
	uint32_t count = chain_reader_nodes(reader);
	_cleanup_free_ uint32_t *outer = xcalloc(count, sizeof(*outer));
	_cleanup_free_ uint32_t *leaf = xcalloc(count, sizeof(*leaf));
	_cleanup_free_ struct spot *spots = xcalloc(count, sizeof(*spots));
	size_t places = (size_t)chain_reader_places(reader) + 1;
	_cleanup_free_ uint32_t(*functions)[CODE_ROLE_COUNT_] = xcalloc(places, sizeof(*functions));

	return plant(&(struct plant){ .collect = collect,
				      .reader = reader,
				      .end = end,
				      .outer = outer,
				      .leaf = leaf,
				      .spots = spots,
				      .functions = functions,
				      .count = count });
}

/* --- sums --- */

static bool is_row(const struct call_node *node)
{
	return !(node->what & (CHAINS_NODE_APP | CHAINS_NODE_END));
}

void chains_plant_sum(struct chains *c)
{
	const struct call_tree *t = &c->tree;
	_cleanup_free_ uint64_t *totals = call_tree_totals(t);
	_cleanup_free_ uint32_t *open = xcalloc(c->rows.count + 1, sizeof(*open));
	uint32_t at = 0, i;

	/* In preorder; ->open has how often each function is among the callers of the next node. */
	for (i = call_tree_next(t, 0); i; i = call_tree_next(t, i)) {
		const struct call_node *n = &t->nodes[i];

		for (; at != n->parent; at = t->nodes[at].parent)
			if (is_row(&t->nodes[at]))
				open[t->nodes[at].what]--;
		at = i;
		if (!is_row(n))
			continue;
		c->rows.rows[n->what].counts[CHAINS_SELF] += n->self;
		if (!open[n->what]++)
			c->rows.rows[n->what].counts[CHAINS_INCLUSIVE] += totals[i];
	}
}
