/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_read.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "chains/internal/chain_reader.h"
#include "history/segment_steps.h"
#include "history/steps.h"

#include <errno.h>
#include <stdlib.h>

void chain_reader_close_files(struct chain_reader *r)
{
	while (r->count)
		chain_generation_close(&r->generations[--r->count]);
}

void chain_reader_close(struct chain_reader *r)
{
	if (!r)
		return;
	chain_reader_close_files(r);
	free(r->generations);
	chain_names_close(r->names);
	free(r->dir);
	free(r);
}

const struct chain_names *chain_reader_names(const struct chain_reader *r)
{
	return r->names;
}

/* --- all chains --- */

int chain_reader_each(struct chain_reader *r,
		      int (*each)(uint32_t context, const struct chain *chain, void *data),
		      void *data)
{
	struct chain chain = { .frames = r->frames };
	uint32_t context, i;
	size_t k, at;
	int status;

	for (k = 0; k < r->count; k++) {
		struct chain_generation *g = &r->generations[k];

		if (!chain_generation_read(g))
			continue;
		for (at = 0; (i = chain_generation_sampled(g, at)); at++) {
			chain.samples = chain_generation_count(g, i);
			if (!chain.samples)
				continue;
			chain.is_function = chain_generation_is_function(g, i);
			chain.count = chain_reader_collect(r, g, i, &context);
			status = chain.count ? each(context, &chain, data) : 0;
			if (status)
				return status;
		}
	}
	return 0;
}

/* The number of a node that a visitor gets. */
static uint32_t number_of(const struct chain_visitor *v, uint32_t node)
{
	return v->numbers ? v->numbers[node] : node;
}

/* Reports a chain of a slice, unless it is invalid. */
static int report(struct chain_reader *r, const struct chain_generation *g, struct chain *chain,
		  const struct chain_visitor *v)
{
	uint32_t context = 0;

	if (v->nodes_only)
		return chain->node ? v->each(0, chain, v->data) : 0;
	chain->count =
		chain_reader_collect(r, g, chain->node - chain_reader_nodes_before(r, g), &context);
	return chain->count ? v->each(context, chain, v->data) : 0;
}

/* Reports the chains of a slice. @left has, by node, the samples that no slice had yet. */
static int each_of_slice(struct chain_reader *r, const struct chain_generation *g,
			 struct chain_past_entries *entries, uint32_t *left,
			 const struct chain_visitor *v)
{
	struct chain chain = { .frames = r->frames };
	uint64_t node, count;
	uint32_t before = chain_reader_nodes_before(r, g);
	int status = 0;

	while (status == 0 && chain_past_next(entries, &node, &count)) {
		if (node >= g->nodes.count || !left[node] || !count)
			continue;
		chain.samples = MIN(count, (uint64_t)left[node]);
		left[node] -= (uint32_t)chain.samples;
		chain.node = number_of(v, before + (uint32_t)node);
		status = report(r, g, &chain, v);
	}
	return status;
}

/* Reports all slices of a pair of files. */
static int each_slice(struct chain_reader *r, const struct chain_generation *g,
		      struct slices *slices, const struct chain_visitor *v)
{
	enum {
		FORGET_EVERY = 1 << 16
	}; /* the nodes of a file need more memory than their counts */
	_cleanup_free_ uint32_t *left = xcalloc_whole(g->nodes.count, sizeof(*left));
	struct slice slice;
	int status = 0;
	uint32_t i;

	for (i = 1; i < g->nodes.count; i++) {
		left[i] = chain_generation_stored(g, i).count;
		if (i % FORGET_EVERY == 0)
			chain_table_forget(&g->nodes, i);
	}
	chain_table_forget(&g->nodes, g->nodes.count);
	while (status == 0 && slices_next(slices, &slice)) {
		struct chain_past_entries entries;
		size_t size = 0;
		const void *content;

		if (v->wants && !v->wants(&slice, v->data))
			continue;
		content = slices_content(slices, &size);
		if (!content || !chain_past_begin(content, size, &entries))
			continue;
		status = each_of_slice(r, g, &entries, left, v);
		if (status == 0)
			status = v->end(&slice, v->data);
	}
	return status;
}

/* The counts of segments, by step, that are read at the same time. */
struct batch {
	const struct chain_reader *reader;
	const struct chain_generation *first;
	const struct chain_visitor *visitor;
	struct segment_steps *steps;
	size_t count;
};

static void read_steps(size_t i, unsigned int thread _unused_, void *data)
{
	const struct batch *b = data;
	const struct chain_generation *g = &b->first[i];
	const struct chain_visitor *v = b->visitor;
	const struct segment_stepping how = {
		v->steps, v->numbers ? v->numbers + chain_reader_nodes_before(b->reader, g) : NULL,
		v->number_count
	};
	size_t count = segment_about(g->segment)->slices, k;
	_cleanup_free_ bool *wanted = xmemdup(g->wanted, (count + 1) * sizeof(*wanted));

	for (k = 0; v->wants && k < count; k++)
		wanted[k] &= v->wants(&segment_slice_at(g->segment, k)->slice, v->data);
	segment_steps_add(&b->steps[i], g->segment, &how, wanted);
}

/* Reports the steps of a segment, each as a slice. */
static int report_steps(struct chain_reader *r, const struct chain_generation *g,
			const struct segment_steps *steps, const struct chain_visitor *v)
{
	struct chain chain = { .frames = r->frames };
	uint32_t before = chain_reader_nodes_before(r, g);
	int status = 0;
	size_t i;

	chain_generation_warn_slices(g, steps->damaged);
	for (i = 0; i < steps->count && status == 0; i++) {
		const struct segment_step_count *c = &steps->counts[i];

		chain.samples = c->count;
		chain.is_function = !v->nodes_only && chain_generation_is_function(g, c->node);
		chain.node = v->numbers ? c->node : before + c->node;
		status = report(r, g, &chain, v);
		if (status == 0 && (i + 1 == steps->count || c[1].step != c->step))
			status = v->end(&(struct slice){ .span = steps_window(v->steps, c->step) },
					v->data);
	}
	return status;
}

/* Reports the steps of segments from @first on; sets *@ret to how many. */
static int each_of_segments(struct chain_reader *r, struct chain_generation *first,
			    const struct chain_visitor *v, size_t *ret)
{
	const size_t most = 2 * (size_t)parallel_threads();
	_cleanup_free_ struct segment_steps *steps = xcalloc(most, sizeof(*steps));
	struct batch b = { r, first, v, steps, 0 };
	int status = 0;
	size_t i;

	while (b.count < most && first + b.count < r->generations + r->count &&
	       first[b.count].segment && (v->nodes_only || chain_generation_read(&first[b.count])))
		b.count++;
	parallel_each(b.count, read_steps, &b);
	for (i = 0; i < b.count; i++) {
		if (status == 0)
			status = report_steps(r, &first[i], &steps[i], v);
		segment_steps_done(&steps[i]);
	}
	*ret = b.count;
	return status;
}

/* Reports the slices of a segment that are in the window. */
static int each_of_segment(struct chain_reader *r, const struct chain_generation *g,
			   const struct chain_visitor *v)
{
	struct chain chain = { .frames = r->frames };
	struct segment_counts c;
	uint32_t before = chain_reader_nodes_before(r, g);
	size_t damaged = 0, i, k;
	int status = 0;

	for (i = 0; i < segment_about(g->segment)->slices && status == 0; i++) {
		const struct segment_slice *s = segment_slice_at(g->segment, i);

		if (!g->wanted[i] || (v->wants && !v->wants(&s->slice, v->data)))
			continue;
		if (segment_counts(g->segment, i, &c) < 0) {
			damaged += s->bytes;
			continue;
		}
		for (k = 0; k < c.count && status == 0; k++) {
			chain.samples = c.counts[k];
			chain.is_function =
				!v->nodes_only && chain_generation_is_function(g, c.nodes[k]);
			chain.node = number_of(v, before + c.nodes[k]);
			if (chain.samples)
				status = report(r, g, &chain, v);
		}
		if (status == 0)
			status = v->end(&s->slice, v->data);
	}
	chain_generation_warn_slices(g, damaged);
	return status;
}

/* Reports the slices of a pair of files, which has none if it is old. */
static int each_of_pair(struct chain_reader *r, const struct chain_generation *g,
			const struct chain_visitor *v)
{
	_cleanup_(slices_freep) struct slices *slices = NULL;
	struct error err = ERROR_INIT;
	int status = chain_past_open(r->dir, g->number, &slices, &err);

	if (status == 0)
		return each_slice(r, g, slices, v);
	if (status != -ENOENT)
		log_warn("%s; its slices are left out", err.text);
	return 0;
}

/* Reports the slices of a source, or of several; sets *@ret to how many. */
static int each_of_source(struct chain_reader *r, struct chain_generation *g,
			  const struct chain_visitor *v, size_t *ret)
{
	*ret = 1;
	if (g->segment && !v->nodes_only && !chain_generation_read(g))
		return 0;
	if (g->segment && v->steps)
		return each_of_segments(r, g, v, ret);
	if (g->segment)
		return each_of_segment(r, g, v);
	return each_of_pair(r, g, v);
}

int chain_reader_each_slice(struct chain_reader *r, const struct chain_visitor *v)
{
	int status = 0;
	size_t i, visited;

	for (i = 0; i < r->count && status == 0; i += visited)
		status = each_of_source(r, &r->generations[i], v, &visited);
	return status;
}

void chain_reader_keep_rest(struct chain_reader *r)
{
	size_t i;
	uint32_t k;

	for (i = 0; i < r->count; i++) {
		_cleanup_(slices_freep) struct slices *slices = NULL;
		struct chain_generation *g = &r->generations[i];
		struct chain_past past;

		if (g->segment || chain_past_open(r->dir, g->number, &slices, NULL) < 0)
			continue;
		chain_past_read(slices, &WINDOW_ALL, &g->nodes, &past);
		for (k = 1; k < g->nodes.count; k++)
			past.counts[k] = chain_generation_stored(g, k).count - past.counts[k];
		free(past.nodes);
		past.nodes = NULL;
		g->past = past;
	}
}

uint64_t chain_reader_folded(struct chain_reader *r)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < r->count; i++)
		sum += chain_generation_folded(&r->generations[i]);
	return sum;
}

void chain_reader_arcs(struct chain_reader *r,
		       void (*each)(const struct chain_arc *arc, void *data), void *data)
{
	size_t k;

	for (k = 0; k < r->count; k++)
		chain_generation_arcs(&r->generations[k], r->names, each, data);
}

/* Returns whether the file of nodes was emptied: a writer makes its header before it adds places or
 * names. */
static bool is_emptied(const struct chain_generation *g)
{
	return !g->nodes.map && (g->places.count > 1 || g->context_count);
}

static void check_generation(const struct chain_generation *g, struct chain_damage *ret)
{
	_cleanup_free_ bool *bad = xcalloc(g->nodes.count, sizeof(*bad));
	struct chain_frame frame;
	uint32_t i;

	ret->missing += (uint64_t)g->nodes.damaged + g->places.damaged;
	if (is_emptied(g) && !ret->emptied++)
		ret->emptied_number = g->number;
	if (g->absent && g->nodes.count > 1 && !ret->absent++) {
		ret->absent_name = g->absent;
		ret->absent_number = g->number;
	}
	for (i = 1; i < g->nodes.count; i++) {
		const struct chain_node n = chain_generation_stored(g, i);

		if (n.parent)
			bad[i] = n.parent >= i || bad[n.parent] ||
				 !chain_generation_frame(g, i, &frame);
		else
			bad[i] = !chain_generation_context(g, i) || n.count;
		ret->nodes += bad[i];
		ret->samples += bad[i] ? n.count : 0;
	}
}

/* Whether files are shorter than they were, so that all nodes are worth a look. */
static bool may_be_damaged(const struct chain_generation *g)
{
	if (g->segment)
		return false;
	return is_emptied(g) || g->names_damaged || g->nodes.damaged || g->places.damaged ||
	       (g->nodes.count > 1 && (g->places.count <= 1 || !g->context_count));
}

struct chain_skipped chain_reader_skipped(const struct chain_reader *r)
{
	struct chain_skipped sum = { .bytes = r->damaged,
				     .pairs = r->timeless,
				     .lost = r->lost.samples };
	struct chain_damage damage = { 0 };
	size_t i;

	for (i = 0; i < r->count; i++) {
		const struct chain_generation *g = &r->generations[i];

		sum.bytes += g->past.damaged + g->damaged;
		sum.samples += g->past.unknown;
		if (may_be_damaged(g))
			check_generation(g, &damage);
	}
	sum.invalid = damage.samples;
	/* Not if only bytes of names are: a writer may be about to finish one. */
	sum.is_damaged =
		damage.nodes || damage.emptied || damage.missing || damage.absent || r->lost.pairs;
	return sum;
}

void chain_reader_check(const struct chain_reader *r, struct chain_damage *ret)
{
	size_t i;

	*ret = (struct chain_damage){ .absent = r->lost.pairs,
				      .absent_name = "nodes",
				      .absent_number = r->lost.first,
				      .lost = r->lost.samples };
	for (i = 0; i < r->count; i++) {
		if (r->generations[i].segment) /* history_check() does it */
			continue;
		check_generation(&r->generations[i], ret);
		ret->bytes += r->generations[i].names_damaged;
	}
	ret->any = ret->nodes || ret->emptied || ret->absent || ret->missing || ret->bytes;
}
