/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_read.h"
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

/* How many places the generations before a generation have. */
static uint32_t places_before(const struct chain_reader *r, const struct chain_generation *g)
{
	const struct chain_generation *i;
	uint32_t sum = 0;

	for (i = r->generations; i < g; i++)
		sum += chain_generation_places(i);
	return sum;
}

size_t chain_reader_parts(const struct chain_reader *r)
{
	return r->count;
}

struct chain_reader_part chain_reader_part(const struct chain_reader *r, size_t i)
{
	const struct chain_generation *g = &r->generations[i];

	/* Neither has a number 0 of its own. */
	return (struct chain_reader_part){ chain_reader_nodes_before(r, g) + 1,
					   chain_generation_nodes(g) - 1, places_before(r, g) + 1,
					   chain_generation_places(g) - 1 };
}

void chain_reader_forget_part(struct chain_reader *r, size_t i)
{
	chain_generation_forget_nodes(&r->generations[i]);
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
		r->first_place = places_before(r, &r->generations[r->last]);
		if (i == r->count)
			return NULL;
	}
	*node -= r->first;
	return *node ? &r->generations[r->last] : NULL;
}

void chain_reader_forget_before(struct chain_reader *r, uint32_t node)
{
	const struct chain_generation *g = generation_of(r, &node);

	if (g && !g->segment)
		chain_table_forget(&g->nodes, node);
}

bool chain_reader_node(struct chain_reader *r, uint32_t node, struct chain_reader_node *ret)
{
	uint32_t i = node;
	const struct chain_generation *g = generation_of(r, &i);

	if (!g)
		return false;
	ret->parent = chain_generation_parent(g, i);
	ret->samples = chain_generation_count(g, i);
	ret->is_function = ret->samples && chain_generation_is_function(g, i);
	if (!ret->parent) {
		ret->context = chain_generation_context(g, i);
		return ret->context != 0;
	}
	if (ret->parent >= i)
		return false;
	ret->parent += node - i;
	ret->place = chain_generation_place(g, i);
	ret->place = ret->place && ret->place < chain_generation_places(g)
			     ? ret->place + r->first_place
			     : 0;
	return true;
}

bool chain_reader_frame(struct chain_reader *r, uint32_t node, struct chain_frame *ret)
{
	uint32_t i = node;
	const struct chain_generation *g = generation_of(r, &i);

	return g && chain_generation_frame(g, i, ret);
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
