/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_read.h"

#include "base/macro.h"
#include "base/parallel.h"
#include "chains/internal/chain_reader.h"

size_t chain_reader_collect(struct chain_reader *r, const struct chain_generation *g, uint32_t i,
			    uint32_t *ret_context)
{
	uint32_t parent;
	size_t count = 0;

	while ((parent = chain_generation_parent(g, i))) {
		/* Parents precede their children, so every walk ends. */
		if (parent >= i || count == CHAIN_FRAMES_MAX ||
		    !chain_generation_frame(g, i, &r->frames[count++]))
			return 0;
		i = parent;
	}
	*ret_context = chain_generation_context(g, i);
	return *ret_context ? count : 0;
}

uint32_t chain_reader_nodes_before(const struct chain_reader *r, const struct chain_generation *g)
{
	const struct chain_generation *i;
	uint32_t sum = 0;

	for (i = r->generations; i < g; i++)
		sum += chain_generation_nodes(i) - 1;
	return sum;
}

uint32_t chain_reader_nodes(const struct chain_reader *r)
{
	return chain_reader_nodes_before(r, r->generations + r->count) + 1;
}

size_t chain_reader_trees(const struct chain_reader *r)
{
	return r->count;
}

struct chain_reader_tree chain_reader_size(const struct chain_reader *r, size_t i)
{
	const struct chain_generation *g = &r->generations[i];

	/* Neither has a number 0 of its own. */
	return (struct chain_reader_tree){ .before = chain_reader_nodes_before(r, g),
					   .nodes = chain_generation_nodes(g) - 1,
					   .places = chain_generation_places(g) - 1 };
}

static void read_tree(size_t i, unsigned int thread _unused_, void *data)
{
	struct chain_generation *first = data;

	(void)chain_generation_read(&first[i]);
}

/* Reads a tree, and some of those after it at the same time. */
static void read_trees(struct chain_reader *r, size_t i)
{
	enum { MOST = 4 };
	const size_t wanted = MIN((size_t)parallel_threads(), (size_t)MOST);

	if (chain_generation_is_read(&r->generations[i]))
		return;
	parallel_each(MIN(r->count - i, wanted), read_tree, &r->generations[i]);
}

struct chain_reader_tree chain_reader_tree(struct chain_reader *r, size_t i)
{
	struct chain_generation *g = &r->generations[i];
	struct chain_reader_tree tree = chain_reader_size(r, i);

	read_trees(r, i);

	if (!chain_generation_arrays(g, &tree.parents, &tree.place_of, &tree.counts))
		tree.nodes = 0;
	return tree;
}

void chain_reader_forget_tree(struct chain_reader *r, size_t i)
{
	chain_generation_forget_nodes(&r->generations[i]);
}

bool chain_reader_frame(const struct chain_reader *r, size_t i, uint32_t place,
			struct chain_frame *ret, bool *ret_is_function)
{
	return chain_generation_frame_at(&r->generations[i], place, ret, ret_is_function);
}

uint32_t chain_reader_context(const struct chain_reader *r, size_t i, uint32_t place)
{
	return chain_generation_context_at(&r->generations[i], place);
}

/* Finds the generation with a node, whose number becomes that in the generation. Remembers it, so
 * that the search is not done for each node. */
static const struct chain_generation *generation_of(struct chain_reader *r, uint32_t *node)
{
	if (*node <= r->first || *node > r->first + r->last_nodes) {
		size_t i;

		r->first = 0;
		for (i = 0; i < r->count; i++) {
			r->last = i;
			r->last_nodes = chain_generation_nodes(&r->generations[i]) - 1;
			if (*node <= r->first + r->last_nodes)
				break;
			r->first += r->last_nodes;
		}
		if (i == r->count)
			return NULL;
	}
	*node -= r->first;
	return *node ? &r->generations[r->last] : NULL;
}

bool chain_reader_chain(struct chain_reader *r, uint32_t node, uint32_t *ret_context,
			struct chain *ret)
{
	uint32_t i = node;
	const struct chain_generation *g = generation_of(r, &i);

	if (!g)
		return false;
	*ret = (struct chain){ .frames = r->frames,
			       .count = chain_reader_collect(r, g, i, ret_context),
			       .samples = chain_generation_count(g, i),
			       .is_function = chain_generation_is_function(g, i),
			       .node = node };
	return ret->count > 0;
}
