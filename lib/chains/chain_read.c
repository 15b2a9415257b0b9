/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_read.h"

#include "base/mem.h"
#include "base/path.h"
#include "chains/chain_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

struct generation {
	struct chain_table places, nodes;
};

struct chain_reader {
	struct chain_names *names;
	struct generation *generations;
	size_t count, room;
	struct chain_frame frames[CHAIN_FRAMES_MAX];
};

static int open_generation(const char *dir, unsigned int n, struct generation *g, struct error *err)
{
	_cleanup_free_ char *places = xasprintf("%s/places.%u", dir, n);
	_cleanup_free_ char *nodes = xasprintf("%s/nodes.%u", dir, n);
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

int chain_reader_open(const char *samples, struct chain_reader **ret, struct error *err)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = xcalloc(1, sizeof(*r));
	_cleanup_free_ char *dir = path_join(samples, CHAIN_DIRECTORY);
	unsigned int i, n = chain_generations(dir);
	int status;

	if (!n)
		return error_set(err, -ENOENT, "%s: no call chains were recorded", samples);
	for (i = 0; i < n; i++) {
		array_grow(&r->generations, r->count + 1, &r->room);
		status = open_generation(dir, i, &r->generations[r->count], err);
		if (status < 0)
			return status;
		r->count++;
	}
	/* The names last, for the same reason. */
	status = chain_names_open(dir, false, &r->names, err);
	if (status < 0)
		return status;
	*ret = STEAL(r);
	return 0;
}

void chain_reader_close(struct chain_reader *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->count; i++) {
		chain_table_close(&r->generations[i].places);
		chain_table_close(&r->generations[i].nodes);
	}
	free(r->generations);
	chain_names_close(r->names);
	free(r);
}

const struct chain_names *chain_reader_names(const struct chain_reader *r)
{
	return r->names;
}

static struct chain_node node_of(const struct generation *g, uint32_t i)
{
	return *(const struct chain_node *)chain_table_at(&g->nodes, i);
}

/* Gets the frame at place @i; returns false if there is no such place or image. */
static bool frame_at(const struct chain_reader *r, const struct generation *g, uint32_t i,
		     struct chain_frame *ret)
{
	uint64_t value;

	if (!i || i >= g->places.count)
		return false;
	value = ((const struct chain_place *)chain_table_at(&g->places, i))->image_offset;
	ret->image = (uint32_t)(value >> CHAIN_OFFSET_BITS);
	/* Sign extension: the upper bits repeat the highest of the lower. */
	ret->offset = (uint64_t)((int64_t)(value << 16) >> 16);
	return ret->image && ret->image <= chain_names_images(r->names);
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
		    !frame_at(r, g, n.place, &r->frames[count++]))
			return 0;
		i = n.parent;
		n = node_of(g, i);
	}
	*ret_context = n.place;
	return n.place && n.place <= chain_names_contexts(r->names) ? count : 0;
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

/* Sums over the nodes of a pair of files. */
struct sums {
	uint32_t *contexts; /* of each node's root; 0: the node or one above it is invalid */
	uint64_t *samples;  /* of the chains that include the node */
	uint64_t *returns;  /* of those in which the node's offset is a return address */
};

static uint32_t context_of_node(const struct chain_reader *r, const struct generation *g,
				const uint32_t *contexts, uint32_t i)
{
	const struct chain_node n = node_of(g, i);
	struct chain_frame frame;

	if (!n.parent)
		return n.place <= chain_names_contexts(r->names) ? n.place : 0;
	return n.parent < i && frame_at(r, g, n.place, &frame) ? contexts[n.parent] : 0;
}

static bool is_kernel(const struct chain_reader *r, const struct generation *g, uint32_t i)
{
	struct chain_frame frame;

	return frame_at(r, g, node_of(g, i).place, &frame) &&
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
		s->contexts[i] = context_of_node(r, g, s->contexts, i);
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
		    !frame_at(r, g, node_of(g, n.parent).place, &arc.caller))
			continue;
		if (frame_at(r, g, n.place, &arc.callee))
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

/* Returns whether the file of nodes was emptied: a writer makes its header before it adds places
 * or, to the first files, names. */
static bool is_emptied(const struct chain_reader *r, const struct generation *g)
{
	return !g->nodes.map &&
	       (g->places.count > 1 || (g == r->generations && chain_names_contexts(r->names)));
}

static void check_generation(const struct chain_reader *r, const struct generation *g,
			     struct chain_damage *ret)
{
	_cleanup_free_ bool *bad = xcalloc(g->nodes.count, sizeof(*bad));
	struct chain_frame frame;
	uint32_t i;

	ret->missing += (uint64_t)g->nodes.damaged + g->places.damaged;
	if (is_emptied(r, g) && !ret->emptied++)
		ret->emptied_number = (unsigned int)(g - r->generations);
	for (i = 1; i < g->nodes.count; i++) {
		const struct chain_node n = node_of(g, i);

		if (n.parent)
			bad[i] = n.parent >= i || bad[n.parent] || !frame_at(r, g, n.place, &frame);
		else
			bad[i] = !n.place || n.place > chain_names_contexts(r->names) || n.count;
		ret->nodes += bad[i];
		ret->samples += bad[i] ? n.count : 0;
	}
}

void chain_reader_check(const struct chain_reader *r, struct chain_damage *ret)
{
	size_t i;

	*ret = (struct chain_damage){ .bytes = chain_names_damaged(r->names) };
	for (i = 0; i < r->count; i++)
		check_generation(r, &r->generations[i], ret);
	ret->any = ret->nodes || ret->emptied || ret->missing || ret->bytes;
}

/* --- merging --- */

struct merge {
	const struct chain_names *names;
	struct chain_store *to;
	uint32_t *images, *contexts; /* numbers in @to; 0: not requested yet */
	struct chain_frame frames[CHAIN_FRAMES_MAX];
	struct error *err;
};

static int image_there(struct merge *m, uint32_t image, uint32_t *ret)
{
	int r = 0;

	if (!m->images[image])
		r = chain_store_image(m->to, chain_names_image_at(m->names, image),
				      chain_names_is_kernel(m->names, image), &m->images[image],
				      m->err);
	*ret = m->images[image];
	return r;
}

static int context_there(struct merge *m, uint32_t context, uint32_t *ret)
{
	struct chain_context own;
	int r = 0;

	if (!m->contexts[context]) {
		own = *chain_names_context_at(m->names, context);
		r = image_there(m, own.app, &own.app);
		if (r == 0)
			r = chain_store_context(m->to, &own, &m->contexts[context], m->err);
	}
	*ret = m->contexts[context];
	return r;
}

static int add_there(uint32_t context, const struct chain *chain, void *data)
{
	struct merge *m = data;
	struct chain own = { m->frames, chain->count, chain->samples };
	uint32_t there = 0;
	size_t i;
	int r = context_there(m, context, &there);

	for (i = 0; i < chain->count && r == 0; i++) {
		m->frames[i] = chain->frames[i];
		r = image_there(m, chain->frames[i].image, &m->frames[i].image);
	}
	return r < 0 ? r : chain_store_add(m->to, there, &own, m->err);
}

int chain_merge(const char *samples, struct chain_store *to, struct error *err)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	_cleanup_free_ uint32_t *images = NULL, *contexts = NULL;
	_cleanup_free_ struct merge *m = xcalloc(1, sizeof(*m));
	int status = chain_reader_open(samples, &r, err);

	if (status < 0)
		return status;
	images = xcalloc(chain_names_images(r->names) + 1, sizeof(*images));
	contexts = xcalloc(chain_names_contexts(r->names) + 1, sizeof(*contexts));
	m->names = r->names;
	m->to = to;
	m->images = images;
	m->contexts = contexts;
	m->err = err;
	return chain_reader_each(r, add_there, m);
}

/* Writes the files in @directory to the disk, with all else on its file system. */
static int sync_files(const char *directory)
{
	_cleanup_close_ int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -1 : syncfs(fd);
}

/* Replaces the directory @to by @from. */
static int replace_directory(const char *from, const char *to, struct error *err)
{
	_cleanup_free_ char *aside = xasprintf("%s.old.tmp", to);

	(void)path_remove_tree(aside, NULL);
	if (sync_files(from) < 0 || rename(to, aside) < 0 || rename(from, to) < 0 ||
	    path_sync_parent(to) < 0)
		return error_errno(err, -errno, "cannot replace %s", to);
	return path_remove_tree(aside, err);
}

int chain_repair(const char *samples, struct error *err)
{
	_cleanup_free_ char *work = path_join(samples, ".chains.tmp");
	_cleanup_free_ char *made = path_join(work, CHAIN_DIRECTORY);
	_cleanup_free_ char *dir = path_join(samples, CHAIN_DIRECTORY);
	struct chain_store *to = NULL;
	int r;

	(void)path_remove_tree(work, NULL);
	r = chain_store_open(work, &to, err);
	if (r == 0)
		r = chain_merge(samples, to, err);
	chain_store_close(to);
	if (r == 0)
		r = replace_directory(made, dir, err);
	(void)path_remove_tree(work, NULL);
	return r;
}
