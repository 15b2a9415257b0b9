/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_history.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "chains/internal/chain_generation.h"
#include "history/history_source.h"
#include "history/segment.h"
#include "history/segment_made.h"

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
	struct segment_made made;
	uint32_t *nodes;		       /* in the tree, by number in the pair; 0: invalid */
	uint32_t *image_lines, *context_lines; /* by number in ->names; 0: not requested yet */
	size_t damaged;
};

static void conversion_done(struct conversion *c)
{
	chain_generation_close(&c->pair);
	chain_names_close(c->names);
	segment_made_done(&c->made);
	free(c->nodes);
	free(c->image_lines);
	free(c->context_lines);
}

static uint32_t line_of(struct conversion *c, uint32_t *line, uint32_t number,
			void (*put)(const struct chain_names *, uint32_t, struct strbuf *))
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	if (!*line) {
		put(c->names, number, &text);
		*line = segment_tree_line(&c->made.tree, strbuf_text(&text));
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
		return context ? segment_tree_append(&c->made.tree, 0,
						     line_of(c, &c->context_lines[context], context,
							     chain_names_put_context),
						     0)
			       : 0;
	}
	if (parent >= i || !c->nodes[parent] || !chain_generation_frame(g, i, &frame))
		return 0;
	return segment_tree_append(&c->made.tree, c->nodes[parent],
				   line_of(c, &c->image_lines[frame.image], frame.image,
					   chain_names_put_image),
				   frame.offset);
}

/* Makes the tree. A pair has each node once, so none is looked up. */
static void convert_tree(struct conversion *c)
{
	uint32_t count = chain_generation_nodes(&c->pair), i;

	c->nodes = xcalloc((size_t)count + 1, sizeof(*c->nodes));
	c->image_lines = xcalloc((size_t)chain_names_images(c->names) + 1, sizeof(*c->image_lines));
	c->context_lines =
		xcalloc((size_t)chain_names_contexts(c->names) + 1, sizeof(*c->context_lines));
	segment_tree_init(&c->made.tree);
	for (i = 1; i < count; i++) {
		c->nodes[i] = convert_node(c, i);
		if (!c->nodes[i])
			c->damaged += sizeof(struct chain_node);
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

static void add_count(struct conversion *c, uint32_t node, uint64_t count)
{
	if (c->nodes[node] && count)
		segment_made_count(&c->made, c->nodes[node], count);
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
	size_t size = 0;
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
		add_count(c, (uint32_t)node, count);
	}
	segment_made_slice(&c->made, &s);
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

static int to_segment(const char *dir, uint32_t number, struct segment **ret, size_t *damaged)
{
	_cleanup_(conversion_done) struct conversion c = { 0 };
	int r = open_pair(&c, dir, number);

	if (r > 0)
		r = convert_slices(&c, dir);
	if (r < 0)
		return r;
	*damaged += c.damaged;
	*ret = segment_of(&c.made);
	return 0;
}

static int to_sum(const char *dir, uint32_t number, struct segment **ret, size_t *damaged)
{
	const struct segment_slice slice = { .slice.span = { 0, 1 }, .covered_ms = 1 };
	_cleanup_(conversion_done) struct conversion c = { 0 };
	uint32_t i;
	int r = open_pair(&c, dir, number);

	if (r < 0)
		return r;
	for (i = 1; i < chain_generation_nodes(&c.pair); i++)
		add_count(&c, i, chain_generation_stored(&c.pair, i).count);
	segment_made_slice(&c.made, &slice);
	*damaged += c.damaged;
	*ret = segment_of(&c.made);
	return 0;
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

static const void *image_of_line(const char *line, history_find_image *find, void *data)
{
	_cleanup_(chain_names_closep) struct chain_names *n = chain_names_new();
	_cleanup_free_ char *copy = xstrdup(line);
	uint32_t number, context;

	if (chain_names_take(n, copy, &number, &context) < 0 || !number)
		return NULL;
	return find(data, chain_names_image_at(n, number), chain_names_is_kernel(n, number));
}

const struct history_kind history_chains = {
	.directory = CHAIN_DIRECTORY,
	.mark = "chain.",
	.files = { { "nodes.", "" }, { "slices.", "" }, { "places.", "" }, { "names.", "" } },
	.clock = 1,
	.longer_ms = LONGER_MS,
	/* Chains have many more nodes than sample files have places (bench/history). */
	.parts = { 500000, 1000000, 200000, 200000 },
	.packs = 4,
	.other = other,
	.image = image_of_line,
	.to_segment = to_segment,
	.to_sum = to_sum,
};

int chain_history_pair(const char *dir, bool is_new, uint32_t *ret, struct error *err)
{
	_cleanup_free_ uint32_t *pairs = NULL;
	uint32_t last = 0;
	size_t count;
	int has_sum, r;

	if (is_new)
		return sources_next(dir, &history_chains, ret, err);
	r = chain_pairs(dir, &pairs, &count, err);
	if (r < 0)
		return r;
	has_sum = sources_sum(dir, &last, err);
	if (has_sum < 0)
		return has_sum;
	if (!count || (has_sum && pairs[count - 1] <= last))
		return sources_next(dir, &history_chains, ret, err);
	*ret = pairs[count - 1];
	return 0;
}

uint32_t chain_history_next(const char *samples)
{
	_cleanup_free_ char *dir = path_join(samples, CHAIN_DIRECTORY);
	struct error err = ERROR_INIT;
	uint32_t next = 0;

	if (chain_history_pair(dir, true, &next, &err) < 0)
		log_warn("%s", err.text);
	return next;
}
