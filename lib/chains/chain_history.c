/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_history.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "chains/internal/chain_generation.h"
#include "history/history_source.h"
#include "history/segment_tree.h"
#include "history/segment_writer.h"

#include <errno.h>
#include <string.h>

/* Stands for the programs that were rarely sampled, as in the flat history. */
static const char other_image[] = "/[other programs]";

/* How long what is in a coarser level, too, is kept longer than in the flat history: reports take
 * the chains of the time that its slices cover, so those of chains must not be longer. */
enum { LONGER_MS = 3600 * 1000 };

/* A pair that is converted. */
struct conversion {
	struct chain_generation pair;
	struct chain_names *names;
	struct segment_tree tree;
	uint32_t *nodes;		       /* in the tree, by number in the pair; 0: invalid */
	uint32_t *image_lines, *context_lines; /* by number in ->names; 0: not requested yet */
	struct segment_writer *writer;
	struct segment_count *counts; /* of a slice */
	size_t room, damaged;
};

static void conversion_done(struct conversion *c)
{
	chain_generation_close(&c->pair);
	chain_names_close(c->names);
	segment_tree_done(&c->tree);
	segment_writer_free(c->writer);
	free(c->nodes);
	free(c->image_lines);
	free(c->context_lines);
	free(c->counts);
}

static uint32_t line_of(struct conversion *c, uint32_t *line, uint32_t number,
			void (*put)(const struct chain_names *, uint32_t, struct strbuf *))
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	if (!*line) {
		put(c->names, number, &text);
		*line = segment_tree_line(&c->tree, strbuf_text(&text));
	}
	return *line;
}

/* The node of the tree that is node @i of the pair; 0: it is invalid. */
static uint32_t convert_node(struct conversion *c, uint32_t i)
{
	const struct chain_generation *g = &c->pair;
	uint32_t parent = chain_generation_parent(g, i), context;
	struct chain_frame frame;

	if (!parent) {
		context = chain_generation_context(g, i);
		return context ? segment_tree_node(&c->tree, 0,
						   line_of(c, &c->context_lines[context], context,
							   chain_names_put_context),
						   0)
			       : 0;
	}
	if (parent >= i || !c->nodes[parent] || !chain_generation_frame(g, i, &frame))
		return 0;
	return segment_tree_node(&c->tree, c->nodes[parent],
				 line_of(c, &c->image_lines[frame.image], frame.image,
					 chain_names_put_image),
				 frame.offset);
}

/* Makes the tree. Its counts are not needed: nothing is folded here. */
static void convert_tree(struct conversion *c)
{
	uint32_t count = chain_generation_nodes(&c->pair), i;

	c->nodes = xcalloc((size_t)count + 1, sizeof(*c->nodes));
	c->image_lines = xcalloc((size_t)chain_names_images(c->names) + 1, sizeof(*c->image_lines));
	c->context_lines =
		xcalloc((size_t)chain_names_contexts(c->names) + 1, sizeof(*c->context_lines));
	segment_tree_init(&c->tree);
	for (i = 1; i < count; i++) {
		c->nodes[i] = convert_node(c, i);
		if (!c->nodes[i])
			c->damaged += sizeof(struct chain_node);
		else
			segment_tree_count(&c->tree, c->nodes[i],
					   chain_generation_stored(&c->pair, i).count);
	}
}

static int open_pair(struct conversion *c, const char *dir, uint32_t number)
{
	struct chain_generation_from from = { .dir = dir };
	int r;

	from.names = c->names = chain_names_new();
	r = chain_generation_open_pair(&from, number, &c->pair, NULL);
	if (r > 0)
		convert_tree(c);
	return r;
}

static void begin_segment(struct conversion *c, uint32_t **ret_to)
{
	const struct segment_folding none = { 0 };
	size_t count = c->tree.count;

	*ret_to = segment_tree_fold(&c->tree, &none);
	c->writer = segment_writer_new(&c->tree, *ret_to, count);
}

/* Adds a count to the slice with @n counts; returns how many it has then. */
static size_t add_count(struct conversion *c, size_t n, uint32_t node, uint64_t count)
{
	if (!c->nodes[node] || !count)
		return n;
	array_grow(&c->counts, n + 1, &c->room);
	c->counts[n] = (struct segment_count){ c->nodes[node], count };
	return n + 1;
}

/* Adds a slice of the pair. @left has, by node, the samples that no slice had yet. */
static void convert_slice(struct conversion *c, struct slices *slices, const struct slice *slice,
			  uint32_t *left)
{
	struct segment_slice s = { .slice = *slice,
				   .covered_ms =
					   (uint64_t)(slice->span.end_ms - slice->span.begin_ms),
				   .generation = c->pair.number };
	struct chain_past_entries entries;
	uint64_t node, count;
	size_t size = 0, n = 0;
	const void *content = slices_content(slices, &size);

	if (!content || !chain_past_begin(content, size, &entries)) {
		c->damaged += size;
		return;
	}
	while (chain_past_next(&entries, &node, &count)) {
		if (node >= chain_generation_nodes(&c->pair) || !node)
			continue;
		count = MIN(count, (uint64_t)left[node]);
		left[node] -= (uint32_t)count;
		n = add_count(c, n, (uint32_t)node, count);
	}
	segment_writer_slice(c->writer, &s, c->counts, n);
}

/* Adds all slices; none if the pair has none. */
static int convert_slices(struct conversion *c, const char *dir)
{
	_cleanup_(slices_freep) struct slices *slices = NULL;
	_cleanup_free_ uint32_t *left =
		xcalloc((size_t)chain_generation_nodes(&c->pair) + 1, sizeof(*left));
	struct slice slice;
	uint32_t i;
	int r = chain_past_open(dir, c->pair.number, &slices, NULL);

	for (i = 1; i < chain_generation_nodes(&c->pair); i++)
		left[i] = chain_generation_stored(&c->pair, i).count;
	while (r == 0 && slices_next(slices, &slice))
		convert_slice(c, slices, &slice, left);
	if (r == 0)
		c->damaged += slices_damaged(slices);
	return r == -ENOENT ? 0 : r;
}

static int to_segment(const char *dir, uint32_t number, struct strbuf *out, size_t *damaged)
{
	const struct segment_about about = { .first = number, .last = number };
	_cleanup_(conversion_done) struct conversion c = { 0 };
	_cleanup_free_ uint32_t *to = NULL;
	int r = open_pair(&c, dir, number);

	if (r <= 0)
		return r;
	begin_segment(&c, &to);
	r = convert_slices(&c, dir);
	if (r == 0)
		r = segment_writer_finish(c.writer, &about, out);
	*damaged += c.damaged;
	return r;
}

static int to_sum(const char *dir, uint32_t number, struct strbuf *out, size_t *damaged)
{
	const struct segment_about about = { 0 };
	const struct segment_slice slice = { .slice.span = { 0, 1 }, .covered_ms = 1 };
	_cleanup_(conversion_done) struct conversion c = { 0 };
	_cleanup_free_ uint32_t *to = NULL;
	size_t n = 0;
	uint32_t i;
	int r = open_pair(&c, dir, number);

	if (r <= 0)
		return r;
	begin_segment(&c, &to);
	for (i = 1; i < chain_generation_nodes(&c.pair); i++)
		n = add_count(&c, n, i, chain_generation_stored(&c.pair, i).count);
	segment_writer_slice(c.writer, &slice, c.counts, n);
	*damaged += c.damaged;
	return segment_writer_finish(c.writer, &about, out);
}

/* Rare contexts become those of other programs, of all tasks together. Their frames stay what they
 * are, so that what is often called by all of them is kept. */
static char *other(const char *line, unsigned int rung, bool *ret_same)
{
	const struct sname_image image = { .kind = SNAME_ROOT, .name = other_image };
	_cleanup_(chain_names_closep) struct chain_names *n = chain_names_new();
	_cleanup_free_ char *copy = xstrdup(line);
	struct strbuf out = STRBUF_INIT;
	struct chain_context context;
	uint32_t number, app;

	if (rung || chain_names_take(n, copy, &app, &number) < 0 || !number)
		return NULL;
	context = *chain_names_context_at(n, number);
	(void)chain_names_image(n, &image, false, &app, NULL);
	if (context.app == app)
		return NULL;
	context.app = app;
	context.task = SNAME_TASK_ALL;
	(void)chain_names_context(n, &context, &number, NULL);
	chain_names_put_context(n, number, &out);
	*ret_same = true;
	return strbuf_take(&out);
}

const struct history_kind history_chains = {
	.directory = CHAIN_DIRECTORY,
	.mark = "chain.",
	.files = { { "nodes.", "" }, { "slices.", "" }, { "places.", "" }, { "names.", "" } },
	.clock = 1,
	.longer_ms = LONGER_MS,
	/* Chains have many more nodes than sample files have places (bench/history). */
	.parts = { 0, 1000000, 200000, 20000 },
	.other = other,
	.to_segment = to_segment,
	.to_sum = to_sum,
};

uint32_t chain_history_pair(const char *dir, bool is_new)
{
	size_t count;
	_cleanup_free_ uint32_t *pairs = chain_pairs(dir, &count);
	uint32_t last;

	if (is_new || !count || (sources_sum(dir, &last) && pairs[count - 1] <= last))
		return sources_next(dir, &history_chains);
	return pairs[count - 1];
}

uint32_t chain_history_next(const char *samples)
{
	_cleanup_free_ char *dir = path_join(samples, CHAIN_DIRECTORY);

	return chain_history_pair(dir, true);
}
