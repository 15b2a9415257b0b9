/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/internal/chain_generation.h"

#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static void forget_arrays(struct chain_generation *g)
{
	free(STEAL(g->parents));
	free(STEAL(g->place_of));
	free(STEAL(g->own_counts));
}

void chain_generation_close(struct chain_generation *g)
{
	chain_table_close(&g->places);
	chain_table_close(&g->nodes);
	chain_past_done(&g->past);
	forget_arrays(g);
	segment_free(g->segment);
	free(g->wanted);
	free(g->sums);
	free(g->images);
	free(g->contexts);
}

void chain_generation_forget_nodes(struct chain_generation *g)
{
	if (!g->segment) {
		forget_arrays(g);
		chain_table_forget(&g->nodes, g->nodes.count);
		return;
	}
	segment_unload(g->segment);
	free(STEAL(g->sums));
	g->counts = NULL;
	g->is_read = false;
}

/* --- pairs --- */

static char *nodes_path(const char *dir, uint32_t n)
{
	return xasprintf("%s/nodes.%" PRIu32, dir, n);
}

/* Whether a pair was removed: its nodes are removed first. */
static bool is_removed(const char *dir, uint32_t n)
{
	_cleanup_free_ char *nodes = nodes_path(dir, n);

	return access(nodes, F_OK) < 0 && errno == ENOENT;
}

static int open_tables(const char *dir, struct chain_generation *g, struct error *err)
{
	_cleanup_free_ char *places = xasprintf("%s/places.%" PRIu32, dir, g->number);
	_cleanup_free_ char *nodes = nodes_path(dir, g->number);
	/* The nodes first: an active writer adds places before the nodes that refer to them. */
	int r = chain_table_open(&g->nodes, nodes, CHAIN_TABLE_NODES, false, err);

	if (r == 0)
		r = chain_table_open(&g->places, places, CHAIN_TABLE_PLACES, false, err);
	if (r != -ENOENT || is_removed(dir, g->number))
		return r;
	/* Without places, all nodes but roots are invalid. */
	g->places.count = 1;
	g->absent = "places";
	return 0;
}

/* Adds the names of a pair to those of the reader. */
static void merge_names(struct chain_names *all, const struct chain_names *own,
			struct chain_generation *g)
{
	uint32_t i;

	g->image_count = chain_names_images(own);
	g->images = xcalloc((size_t)g->image_count + 1, sizeof(*g->images));
	for (i = 1; i <= g->image_count; i++)
		(void)chain_names_image(all, chain_names_image_at(own, i),
					chain_names_is_kernel(own, i), &g->images[i], NULL);
	g->context_count = chain_names_contexts(own);
	g->contexts = xcalloc((size_t)g->context_count + 1, sizeof(*g->contexts));
	for (i = 1; i <= g->context_count; i++) {
		struct chain_context context = *chain_names_context_at(own, i);

		context.app = g->images[context.app];
		(void)chain_names_context(all, &context, &g->contexts[i], NULL);
	}
	g->names_damaged = chain_names_damaged(own);
}

/* Without names, all nodes are invalid. */
static int open_names(const struct chain_generation_from *from, struct chain_generation *g,
		      struct error *err)
{
	_cleanup_(chain_names_closep) struct chain_names *own = NULL;
	int r = chain_names_open(from->dir, g->number, false, &own, err);

	if (r == 0)
		merge_names(from->names, own, g);
	if (r != -ENOENT || is_removed(from->dir, g->number))
		return r;
	g->absent = "names";
	return 0;
}

int chain_generation_open_pair(const struct chain_generation_from *from, uint32_t number,
			       struct chain_generation *ret, struct error *err)
{
	_cleanup_(slices_freep) struct slices *slices = NULL;
	struct chain_generation *g = ret;
	int r;

	*g = (struct chain_generation){ .number = number,
					.places = CHAIN_TABLE_INIT,
					.nodes = CHAIN_TABLE_INIT };
	/* The slices before all else, because a node is counted before the slice ends. */
	r = from->window ? chain_past_open(from->dir, number, &slices, err) : 0;
	g->is_timeless = r == -ENOENT && !is_removed(from->dir, number);
	if (g->is_timeless)
		return 0;
	if (r == 0)
		r = open_tables(from->dir, g, err);
	if (r < 0)
		return r;
	if (from->window) {
		chain_past_read(slices, from->window, &g->nodes, &g->past);
		if (!g->past.slices && !g->past.damaged)
			return 0;
	}
	/* The names last: places and nodes refer to them. */
	r = open_names(from, g, err);
	return r < 0 ? r : 1;
}

/* --- segments --- */

/* Adds the names of a segment to those of the reader. */
static void take_lines(struct chain_generation *g, struct chain_names *names)
{
	uint32_t count = (uint32_t)segment_about(g->segment)->lines, i;

	g->images = xcalloc((size_t)count + 1, sizeof(*g->images));
	g->contexts = xcalloc((size_t)count + 1, sizeof(*g->contexts));
	g->image_count = g->context_count = count;
	for (i = 1; i <= count; i++) {
		_cleanup_free_ char *line = xstrdup(segment_line(g->segment, i));

		if (chain_names_take(names, line, &g->images[i], &g->contexts[i]) < 0)
			g->names_damaged += strlen(segment_line(g->segment, i));
		else if (g->contexts[i])
			g->images[i] = chain_names_context_at(names, g->contexts[i])->app;
	}
}

static void add_sum(struct chain_generation *g, uint32_t node, uint64_t count)
{
	if (__builtin_add_overflow(g->sums[node], count, &g->sums[node]))
		g->sums[node] = UINT64_MAX;
}

/* Adds up the slices that are wanted, without the damaged ones. */
static void add_slices(struct chain_generation *g)
{
	struct segment_counts c;
	size_t i, k;

	g->counts = g->sums = xcalloc(chain_generation_nodes(g), sizeof(*g->sums));
	for (i = 0; i < segment_about(g->segment)->slices; i++) {
		if (!g->wanted[i])
			continue;
		if (segment_counts(g->segment, i, &c) < 0) {
			g->damaged += segment_slice_at(g->segment, i)->bytes;
			continue;
		}
		for (k = 0; k < c.count; k++)
			add_sum(g, c.nodes[k], c.counts[k]);
	}
}

/* Finds which slices are wanted; returns how many. */
static size_t choose_slices(struct chain_generation *g, const struct window *window,
			    chain_generation_is_taken *is_taken, const void *data)
{
	size_t count = segment_about(g->segment)->slices, wanted = 0, i;

	g->wanted = xcalloc(count + 1, sizeof(*g->wanted));
	for (i = 0; i < count; i++) {
		const struct segment_slice *s = segment_slice_at(g->segment, i);

		g->wanted[i] = !window || (window_overlaps(&s->slice.span, window) &&
					   !is_taken(s->generation, data));
		wanted += g->wanted[i];
	}
	return wanted;
}

int chain_generation_load_segment(const char *path, const struct window *window,
				  chain_generation_is_taken *is_taken, const void *data,
				  struct chain_generation *ret)
{
	struct chain_generation *g = ret;
	size_t wanted;
	int r;

	*g = (struct chain_generation){ .places = CHAIN_TABLE_INIT, .nodes = CHAIN_TABLE_INIT };
	r = segment_open(path, &g->segment, NULL);
	if (r < 0)
		return r;
	wanted = choose_slices(g, window, is_taken, data);
	if (!wanted)
		return 0;
	r = segment_load_names(g->segment, NULL);
	if (r < 0)
		return r;
	g->is_part = wanted < segment_about(g->segment)->slices;
	/* What is damaged is to be known now. */
	if (g->is_part)
		add_slices(g);
	return 1;
}

void chain_generation_name_segment(struct chain_generation *g, struct chain_names *names)
{
	take_lines(g, names);
	segment_unload_names(g->segment);
}

void chain_generation_warn_slices(const struct chain_generation *g, size_t bytes)
{
	if (bytes)
		log_warn("%s: %zu bytes of slices cannot be read, and are left out",
			 segment_name(g->segment), bytes);
}

/* Takes out a tree that cannot be read, as @why explains. */
static void take_none(struct chain_generation *g, const struct error *why)
{
	if (!g->is_bad) {
		g->damaged += segment_about(g->segment)->bytes;
		log_warn("%s; its call chains are left out", why->text);
	}
	g->is_bad = true;
	free(STEAL(g->sums));
	g->counts = NULL;
}

bool chain_generation_read(struct chain_generation *g)
{
	struct error err = ERROR_INIT;
	const size_t before = g->damaged;

	if (!g->segment || g->is_read)
		return true;
	if (g->is_bad || segment_load_nodes(g->segment, &err) < 0) {
		take_none(g, &err);
		return false;
	}
	if (!g->counts && (g->is_part || segment_totals(g->segment, &g->counts, NULL) < 0))
		add_slices(g);
	chain_generation_warn_slices(g, g->damaged - before);
	g->is_read = true;
	return true;
}

/* --- nodes --- */

/* The place of a node, from 1 on; of a root of a pair, the number of its context. */
static uint32_t place_of(const struct chain_generation *g, uint32_t i)
{
	return g->segment ? segment_place(g->segment, i) : chain_generation_stored(g, i).place;
}

uint32_t chain_generation_context(const struct chain_generation *g, uint32_t i)
{
	return chain_generation_context_at(g, place_of(g, i));
}

uint32_t chain_generation_context_at(const struct chain_generation *g, uint32_t place)
{
	uint32_t number = g->segment ? segment_place_at(g->segment, place).line : place;

	return number && number <= g->context_count ? g->contexts[number] : 0;
}

/* Gets the frame at place @i of a pair. */
static bool frame_at(const struct chain_generation *g, uint32_t i, struct chain_frame *ret)
{
	uint64_t value;
	uint32_t image;

	if (!i || i >= g->places.count)
		return false;
	value = ((const struct chain_place *)chain_table_at(&g->places, i))->image_offset;
	image = (uint32_t)(value >> CHAIN_OFFSET_BITS);
	/* Sign extension: the upper bits repeat the highest of the lower. */
	ret->offset = (uint64_t)((int64_t)(value << 16) >> 16);
	if (!image || image > g->image_count)
		return false;
	ret->image = g->images[image];
	return true;
}

bool chain_generation_frame(const struct chain_generation *g, uint32_t i, struct chain_frame *ret)
{
	bool is_function;

	return chain_generation_frame_at(g, place_of(g, i), ret, &is_function);
}

bool chain_generation_frame_at(const struct chain_generation *g, uint32_t place,
			       struct chain_frame *ret, bool *ret_is_function)
{
	struct segment_node node;

	*ret_is_function = false;
	if (!g->segment)
		return frame_at(g, place, ret);
	node = segment_place_at(g->segment, place);
	*ret_is_function = segment_is_function(node.key);
	*ret = (struct chain_frame){ g->images[node.line],
				     *ret_is_function ? node.key & ~SEGMENT_FUNCTION : node.key };
	return ret->image != 0;
}

/* --- arrays --- */

/* The nodes of a pair are where they are in memory once only. A parent that is not before a node is
 * none, and there is no such place. */
static void copy_nodes(struct chain_generation *g)
{
	enum { FORGET_EVERY = 1 << 16 };
	const uint32_t count = g->nodes.count;
	uint32_t i;

	g->parents = xcalloc((size_t)count + 1, sizeof(*g->parents));
	g->place_of = xcalloc((size_t)count + 1, sizeof(*g->place_of));
	g->own_counts = xcalloc((size_t)count + 1, sizeof(*g->own_counts));
	for (i = 1; i < count; i++) {
		const struct chain_node n = chain_generation_stored(g, i);
		const uint32_t places = n.parent ? g->places.count : g->context_count + 1;

		if (i % FORGET_EVERY == 0)
			chain_table_forget(&g->nodes, i);
		g->own_counts[i] = g->past.counts ? g->past.counts[i] : n.count;
		if (n.parent >= i || n.place >= places)
			continue;
		g->parents[i] = n.parent;
		g->place_of[i] = n.place;
	}
}

bool chain_generation_arrays(struct chain_generation *g, const uint32_t **ret_parents,
			     const uint32_t **ret_place_of, const uint64_t **ret_counts)
{
	if (!chain_generation_read(g))
		return false;
	if (g->segment) {
		*ret_parents = segment_parents(g->segment);
		*ret_place_of = segment_places(g->segment);
		*ret_counts = g->counts;
		return true;
	}
	if (!g->parents)
		copy_nodes(g);
	*ret_parents = g->parents;
	*ret_place_of = g->place_of;
	*ret_counts = g->own_counts;
	return true;
}

uint64_t chain_generation_folded(struct chain_generation *g)
{
	uint64_t sum = 0;
	uint32_t i;

	if (!chain_generation_read(g))
		return 0;
	for (i = 1; g->segment && i < chain_generation_nodes(g); i++)
		if (g->counts[i] && segment_node_at(g->segment, i).key == HISTORY_RARE)
			sum += g->counts[i];
	return sum;
}

/* --- arcs --- */

/* Sums over the nodes of a generation. */
struct sums {
	uint32_t *contexts; /* of each node's root; 0: the node or one above it is invalid */
	uint64_t *samples;  /* of the chains that include the node */
	uint64_t *returns;  /* of those in which the node's offset is a return address */
	uint64_t *entries;  /* of those in which the kernel was entered from the node */
};

static uint32_t context_of_node(const struct chain_generation *g, const uint32_t *contexts,
				uint32_t i)
{
	uint32_t parent = chain_generation_parent(g, i);
	struct chain_frame frame;

	if (!parent)
		return chain_generation_context(g, i);
	return parent < i && chain_generation_frame(g, i, &frame) ? contexts[parent] : 0;
}

static bool is_kernel(const struct chain_names *names, const struct chain_generation *g, uint32_t i)
{
	struct chain_frame frame;

	return chain_generation_parent(g, i) && chain_generation_frame(g, i, &frame) &&
	       chain_names_is_kernel(names, frame.image);
}

/* Whether the place of node @i's parent is where @i returns to. User code that the kernel
 * interrupted continues at the very place. */
static bool returns_to_parent(const struct chain_names *names, const struct chain_generation *g,
			      uint32_t i)
{
	return !is_kernel(names, g, i) || is_kernel(names, g, chain_generation_parent(g, i));
}

/* Adds up the samples. Parents precede their children, so one pass down the tree and one up
 * suffice. */
static void add_up(const struct chain_names *names, const struct chain_generation *g,
		   uint32_t count, struct sums *s)
{
	uint32_t i;

	for (i = 1; i < count; i++)
		s->contexts[i] = context_of_node(g, s->contexts, i);
	for (i = count; i-- > 1;) {
		uint32_t parent = chain_generation_parent(g, i);

		if (!s->contexts[i])
			continue;
		s->samples[i] += chain_generation_count(g, i);
		if (!parent)
			continue;
		s->samples[parent] += s->samples[i];
		(returns_to_parent(names, g, i) ? s->returns : s->entries)[parent] += s->samples[i];
	}
}

void chain_generation_arcs(struct chain_generation *g, const struct chain_names *names,
			   void (*each)(const struct chain_arc *arc, void *data), void *data)
{
	uint32_t count = chain_generation_read(g) ? chain_generation_nodes(g) : 0, i;
	_cleanup_free_ uint32_t *contexts = xcalloc((size_t)count + 1, sizeof(*contexts));
	_cleanup_free_ uint64_t *samples = xcalloc((size_t)count + 1, sizeof(*samples));
	_cleanup_free_ uint64_t *returns = xcalloc((size_t)count + 1, sizeof(*returns));
	_cleanup_free_ uint64_t *entries = xcalloc((size_t)count + 1, sizeof(*entries));

	add_up(names, g, count, &(struct sums){ contexts, samples, returns, entries });
	for (i = 1; i < count; i++) {
		uint32_t parent = chain_generation_parent(g, i);
		struct chain_arc arc = { .context = contexts[i],
					 .samples = samples[i],
					 .returns = returns[i],
					 .entries = entries[i] };

		if (!contexts[i] || !samples[i] || !parent)
			continue;
		if (chain_generation_parent(g, parent) &&
		    !chain_generation_frame(g, parent, &arc.caller))
			continue;
		if (chain_generation_frame(g, i, &arc.callee))
			each(&arc, data);
	}
}
