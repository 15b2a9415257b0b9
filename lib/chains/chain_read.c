/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_read.h"

#include "base/mem.h"
#include "base/path.h"
#include "chains/chain_table.h"
#include "chains/internal/chain_past.h"

#include <errno.h>
#include <inttypes.h>

struct generation {
	uint32_t number;
	struct chain_table places, nodes;
	struct chain_past past;	     /* if a window is wanted */
	uint32_t *images, *contexts; /* the reader's number for each of the pair */
	uint32_t image_count, context_count;
	size_t names_damaged;
};

struct chain_reader {
	char *dir;
	struct chain_names *names;
	struct generation *generations;
	size_t count, room;
	struct chain_frame frames[CHAIN_FRAMES_MAX];
};

static void close_generation(struct generation *g)
{
	chain_table_close(&g->places);
	chain_table_close(&g->nodes);
	chain_past_done(&g->past);
	free(g->images);
	free(g->contexts);
}

static int open_tables(const char *dir, uint32_t n, struct generation *g, struct error *err)
{
	_cleanup_free_ char *places = xasprintf("%s/places.%" PRIu32, dir, n);
	_cleanup_free_ char *nodes = xasprintf("%s/nodes.%" PRIu32, dir, n);
	int r;

	/* The nodes first: an active writer adds places before the nodes that refer to them. */
	r = chain_table_open(&g->nodes, nodes, CHAIN_TABLE_NODES, false, err);
	if (r < 0)
		return r;
	r = chain_table_open(&g->places, places, CHAIN_TABLE_PLACES, false, err);
	if (r < 0)
		chain_table_close(&g->nodes);
	return r;
}

/* Adds the names of a pair to those of the reader. */
static void merge_names(struct chain_names *all, const struct chain_names *own,
			struct generation *g)
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

static int open_names(const char *dir, struct chain_names *all, struct generation *g,
		      struct error *err)
{
	_cleanup_(chain_names_closep) struct chain_names *own = NULL;
	int r = chain_names_open(dir, g->number, false, &own, err);

	if (r == 0)
		merge_names(all, own, g);
	return r == -ENOENT ? 0 : r; /* then all nodes are invalid */
}

/* Opens a pair of files. Returns 1, or 0 if it has no slice in the window; or -errno. */
static int open_generation(const char *dir, const struct window *window, struct chain_names *names,
			   struct generation *g, struct error *err)
{
	_cleanup_(slices_freep) struct slices *slices = NULL;
	/* The slices before all else, because a node is counted before the slice ends. */
	int r = window ? chain_past_open(dir, g->number, &slices, err) : 0;

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = open_tables(dir, g->number, g, err);
	if (r < 0)
		return r;
	if (window) {
		chain_past_read(slices, window, &g->nodes, &g->past);
		if (!g->past.slices && !g->past.damaged)
			return 0;
	}
	/* The names last: places and nodes refer to them. */
	r = open_names(dir, names, g, err);
	return r < 0 ? r : 1;
}

int chain_reader_open(const char *samples, const struct window *window, struct chain_reader **ret,
		      struct error *err)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = xcalloc(1, sizeof(*r));
	_cleanup_free_ char *dir = path_join(samples, CHAIN_DIRECTORY);
	size_t i, n;
	_cleanup_free_ uint32_t *pairs = chain_pairs(dir, &n);
	int status;

	if (!n)
		return error_set(err, -ENOENT, "%s: no call chains were recorded", samples);
	r->names = chain_names_new();
	for (i = 0; i < n; i++) {
		struct generation *g;

		array_grow(&r->generations, r->count + 1, &r->room);
		g = &r->generations[r->count];
		*g = (struct generation){ .number = pairs[i],
					  .places = CHAIN_TABLE_INIT,
					  .nodes = CHAIN_TABLE_INIT };
		status = open_generation(dir, window, r->names, g, err);
		if (status > 0)
			r->count++;
		else
			close_generation(g);
		if (status < 0)
			return status;
	}
	if (!r->count)
		return error_set(err, -ENOENT, "%s: no call chains were recorded in this time",
				 samples);
	r->dir = STEAL(dir);
	*ret = STEAL(r);
	return 0;
}

void chain_reader_close(struct chain_reader *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->count; i++)
		close_generation(&r->generations[i]);
	free(r->generations);
	chain_names_close(r->names);
	free(r->dir);
	free(r);
}

const struct chain_names *chain_reader_names(const struct chain_reader *r)
{
	return r->names;
}

static struct chain_node stored_node(const struct generation *g, uint32_t i)
{
	return *(const struct chain_node *)chain_table_at(&g->nodes, i);
}

/* The node with the samples of the reader's window. */
static struct chain_node node_of(const struct generation *g, uint32_t i)
{
	struct chain_node n = stored_node(g, i);

	n.count = g->past.counts ? g->past.counts[i] : n.count;
	return n;
}

/* Gets the frame at place @i; returns false if there is no such place or image. */
static bool frame_at(const struct generation *g, uint32_t i, struct chain_frame *ret)
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

/* Collects the frames of node @i in r->frames. Returns their number, or 0 if the node is
 * invalid. */
static size_t collect(struct chain_reader *r, const struct generation *g, uint32_t i,
		      uint32_t *ret_context)
{
	struct chain_node n = node_of(g, i);
	size_t count = 0;

	while (n.parent) {
		/* Parents precede their children, so every walk ends. */
		if (n.parent >= i || count == CHAIN_FRAMES_MAX ||
		    !frame_at(g, n.place, &r->frames[count++]))
			return 0;
		i = n.parent;
		n = node_of(g, i);
	}
	if (!n.place || n.place > g->context_count)
		return 0;
	*ret_context = g->contexts[n.place];
	return count;
}

int chain_reader_each(struct chain_reader *r,
		      int (*each)(uint32_t context, const struct chain *chain, void *data),
		      void *data)
{
	struct chain chain = { .frames = r->frames };
	uint32_t context, i;
	size_t k;
	int status;

	for (k = 0; k < r->count; k++) {
		const struct generation *g = &r->generations[k];

		for (i = 1; i < g->nodes.count; i++) {
			chain.samples = node_of(g, i).count;
			if (!chain.samples)
				continue;
			chain.count = collect(r, g, i, &context);
			status = chain.count ? each(context, &chain, data) : 0;
			if (status)
				return status;
		}
	}
	return 0;
}

/* Reports the chains of a slice. @left has, by node, the samples that no slice had yet. */
static int each_of_slice(struct chain_reader *r, const struct generation *g,
			 struct chain_past_entries *entries, uint32_t *left,
			 const struct chain_visitor *v)
{
	struct chain chain = { .frames = r->frames };
	uint64_t node, count;
	uint32_t context;
	int status = 0;

	while (status == 0 && chain_past_next(entries, &node, &count)) {
		if (node >= g->nodes.count || !left[node] || !count)
			continue;
		chain.samples = MIN(count, (uint64_t)left[node]);
		left[node] -= (uint32_t)chain.samples;
		chain.count = collect(r, g, (uint32_t)node, &context);
		status = chain.count ? v->each(context, &chain, v->data) : 0;
	}
	return status;
}

/* Reports all slices of a pair of files. */
static int each_slice(struct chain_reader *r, const struct generation *g, struct slices *slices,
		      const struct chain_visitor *v)
{
	_cleanup_free_ uint32_t *left = xcalloc(g->nodes.count, sizeof(*left));
	struct slice slice;
	int status = 0;
	uint32_t i;

	for (i = 1; i < g->nodes.count; i++)
		left[i] = stored_node(g, i).count;
	while (status == 0 && slices_next(slices, &slice)) {
		struct chain_past_entries entries;
		size_t size = 0;
		const void *content = slices_content(slices, &size);

		if (!content || !chain_past_begin(content, size, &entries))
			continue;
		status = each_of_slice(r, g, &entries, left, v);
		if (status == 0)
			status = v->end(&slice, v->data);
	}
	return status;
}

int chain_reader_each_slice(struct chain_reader *r, const struct chain_visitor *v)
{
	int status = 0;
	size_t i;

	for (i = 0; i < r->count && status == 0; i++) {
		_cleanup_(slices_freep) struct slices *slices = NULL;

		if (chain_past_open(r->dir, r->generations[i].number, &slices, NULL) == 0)
			status = each_slice(r, &r->generations[i], slices, v);
	}
	return status;
}

void chain_reader_keep_rest(struct chain_reader *r)
{
	size_t i;
	uint32_t k;

	for (i = 0; i < r->count; i++) {
		_cleanup_(slices_freep) struct slices *slices = NULL;
		struct generation *g = &r->generations[i];
		struct chain_past past;

		if (chain_past_open(r->dir, g->number, &slices, NULL) < 0)
			continue;
		chain_past_read(slices, &WINDOW_ALL, &g->nodes, &past);
		for (k = 1; k < g->nodes.count; k++)
			past.counts[k] = node_of(g, k).count - past.counts[k];
		g->past = past;
	}
}

struct chain_skipped chain_reader_skipped(const struct chain_reader *r)
{
	struct chain_skipped sum = { 0 };
	size_t i;

	for (i = 0; i < r->count; i++) {
		sum.bytes += r->generations[i].past.damaged;
		sum.samples += r->generations[i].past.unknown;
	}
	return sum;
}

/* Sums over the nodes of a pair of files. */
struct sums {
	uint32_t *contexts; /* of each node's root; 0: the node or one above it is invalid */
	uint64_t *samples;  /* of the chains that include the node */
	uint64_t *returns;  /* of those in which the node's offset is a return address */
};

static uint32_t context_of_node(const struct generation *g, const uint32_t *contexts, uint32_t i)
{
	const struct chain_node n = node_of(g, i);
	struct chain_frame frame;

	if (!n.parent)
		return n.place <= g->context_count ? g->contexts[n.place] : 0;
	return n.parent < i && frame_at(g, n.place, &frame) ? contexts[n.parent] : 0;
}

static bool is_kernel(const struct chain_reader *r, const struct generation *g, uint32_t i)
{
	struct chain_frame frame;

	return frame_at(g, node_of(g, i).place, &frame) &&
	       chain_names_is_kernel(r->names, frame.image);
}

/* Whether the place of node @i's parent is where @i returns to. User code that the kernel
 * interrupted continues at the very place. */
static bool returns_to_parent(const struct chain_reader *r, const struct generation *g, uint32_t i)
{
	return !is_kernel(r, g, i) || is_kernel(r, g, node_of(g, i).parent);
}

/* Adds up the samples. Parents precede their children, so one pass down the tree and one up
 * suffice. */
static void add_up(const struct chain_reader *r, const struct generation *g, uint32_t count,
		   struct sums *s)
{
	uint32_t i;

	for (i = 1; i < count; i++)
		s->contexts[i] = context_of_node(g, s->contexts, i);
	for (i = count; i-- > 1;) {
		const struct chain_node n = node_of(g, i);

		if (!s->contexts[i])
			continue;
		s->samples[i] += n.count;
		if (!n.parent)
			continue;
		s->samples[n.parent] += s->samples[i];
		if (returns_to_parent(r, g, i))
			s->returns[n.parent] += s->samples[i];
	}
}

static void list_arcs(const struct chain_reader *r, const struct generation *g,
		      void (*each)(const struct chain_arc *arc, void *data), void *data)
{
	uint32_t count = g->nodes.count, i;
	_cleanup_free_ uint32_t *contexts = xcalloc((size_t)count + 1, sizeof(*contexts));
	_cleanup_free_ uint64_t *samples = xcalloc((size_t)count + 1, sizeof(*samples));
	_cleanup_free_ uint64_t *returns = xcalloc((size_t)count + 1, sizeof(*returns));

	add_up(r, g, count, &(struct sums){ contexts, samples, returns });
	for (i = 1; i < count; i++) {
		const struct chain_node n = node_of(g, i);
		struct chain_arc arc = { .context = contexts[i],
					 .samples = samples[i],
					 .returns = returns[i] };

		if (!contexts[i] || !samples[i] || !n.parent)
			continue;
		if (node_of(g, n.parent).parent &&
		    !frame_at(g, node_of(g, n.parent).place, &arc.caller))
			continue;
		if (frame_at(g, n.place, &arc.callee))
			each(&arc, data);
	}
}

void chain_reader_arcs(const struct chain_reader *r,
		       void (*each)(const struct chain_arc *arc, void *data), void *data)
{
	size_t k;

	for (k = 0; k < r->count; k++)
		list_arcs(r, &r->generations[k], each, data);
}

/* Returns whether the file of nodes was emptied: a writer makes its header before it adds places or
 * names. */
static bool is_emptied(const struct generation *g)
{
	return !g->nodes.map && (g->places.count > 1 || g->context_count);
}

static void check_generation(const struct generation *g, struct chain_damage *ret)
{
	_cleanup_free_ bool *bad = xcalloc(g->nodes.count, sizeof(*bad));
	struct chain_frame frame;
	uint32_t i;

	ret->missing += (uint64_t)g->nodes.damaged + g->places.damaged;
	if (is_emptied(g) && !ret->emptied++)
		ret->emptied_number = g->number;
	for (i = 1; i < g->nodes.count; i++) {
		const struct chain_node n = node_of(g, i);

		if (n.parent)
			bad[i] = n.parent >= i || bad[n.parent] || !frame_at(g, n.place, &frame);
		else
			bad[i] = !n.place || n.place > g->context_count || n.count;
		ret->nodes += bad[i];
		ret->samples += bad[i] ? n.count : 0;
	}
}

void chain_reader_check(const struct chain_reader *r, struct chain_damage *ret)
{
	size_t i;

	*ret = (struct chain_damage){ 0 };
	for (i = 0; i < r->count; i++) {
		check_generation(&r->generations[i], ret);
		ret->bytes += r->generations[i].names_damaged;
	}
	ret->any = ret->nodes || ret->emptied || ret->missing || ret->bytes;
}
