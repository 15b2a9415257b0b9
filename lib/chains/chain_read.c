/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_read.h"

#include "base/mem.h"
#include "file/path.h"
#include "chains/chain_history.h"
#include "chains/internal/chain_reader.h"
#include "history/history_kind.h"
#include "history/history_source.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* How often the directory is read again because a file was removed meanwhile. */
enum { TRIES_MAX = 10 };

/* --- opening --- */

/* What there is in the directory, and which pairs of files were read. */
struct listing {
	struct history_source *sources;
	size_t count;
	struct history_source *taken;
	size_t taken_count;
};

static bool is_taken(uint32_t pair, const void *data)
{
	const struct listing *l = data;
	size_t i;

	for (i = 0; i < l->taken_count; i++)
		if (l->taken[i].first <= pair && pair <= l->taken[i].last)
			return true;
	return false;
}

/* Keeps the generation that was opened last, or not. */
static int settle(struct chain_reader *r, int status)
{
	if (status > 0)
		r->count++;
	else
		chain_generation_close(&r->generations[r->count]);
	return MIN(status, 0);
}

static int open_pair(struct chain_reader *r, const struct chain_generation_from *from,
		     uint32_t number, struct error *err)
{
	array_grow(&r->generations, r->count + 1, &r->room);
	return settle(r, chain_generation_open_pair(from, number, &r->generations[r->count], err));
}

/* Opens a segment. One that is damaged is counted. */
static int open_segment(struct chain_reader *r, const struct chain_generation_from *from,
			const char *path, const struct listing *l)
{
	struct stat st;
	int status;

	array_grow(&r->generations, r->count + 1, &r->room);
	status = settle(r, chain_generation_open_segment(from, path, is_taken, l,
							 &r->generations[r->count]));
	if (status == -EBADMSG && stat(path, &st) == 0)
		r->damaged += (size_t)st.st_size;
	return status;
}

/* Opens the pairs after @last, or all if it is NULL. */
static int open_after(struct chain_reader *r, const struct chain_generation_from *from,
		      struct listing *l, const uint32_t *last, struct error *err)
{
	int status = 0;
	size_t i;

	for (i = 0; i < l->count && status == 0; i++)
		if (!l->sources[i].is_segment && (!last || l->sources[i].first > *last))
			status = open_pair(r, from, l->sources[i].first, err);
	return status;
}

/* Opens the pairs that no sum has. */
static int open_unsummed(struct chain_reader *r, const struct chain_generation_from *from,
			 struct listing *l, struct error *err)
{
	uint32_t last;

	return open_after(r, from, l, sources_sum(from->dir, &last) ? &last : NULL, err);
}

/* Opens the sum of the pairs that may be gone, and the pairs after it. Another sum may appear
 * meanwhile. */
static int open_all(struct chain_reader *r, const struct chain_generation_from *from,
		    struct listing *l, struct error *err)
{
	uint32_t last;
	const bool has_sum = sources_sum(from->dir, &last);
	_cleanup_free_ char *path = has_sum ? source_sum_path(from->dir, last) : NULL;
	int status = path ? open_segment(r, from, path, l) : 0;

	if (status < 0 && status != -EBADMSG)
		return status;
	return open_after(r, from, l, has_sum ? &last : NULL, err);
}

/* Opens what has the window, each pair of files from the finest source that has it. */
static int open_window(struct chain_reader *r, const struct chain_generation_from *from,
		       struct listing *l, struct error *err)
{
	size_t i;
	int status = 0;

	for (i = 0; i < l->count && status == 0; i++) {
		const struct history_source *s = &l->sources[i];
		_cleanup_free_ char *path = source_path(from->dir, s);

		if (!s->is_segment && is_taken(s->first, l))
			continue;
		status = s->is_segment ? open_segment(r, from, path, l)
				       : open_pair(r, from, s->first, err);
		if (status == 0)
			l->taken[l->taken_count++] = *s;
		else if (s->is_segment && status == -EBADMSG)
			status = 0;
	}
	return status;
}

typedef int opener(struct chain_reader *r, const struct chain_generation_from *from,
		   struct listing *l, struct error *err);

/* Reads the directory once; -ENOENT if one of its files has vanished. */
static int open_once(const char *dir, const struct window *window, opener *open_sources,
		     struct chain_reader **ret, struct error *err)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = xcalloc(1, sizeof(*r));
	struct listing l = { 0 };
	_cleanup_free_ struct history_source *sources =
		sources_list(dir, &history_chains, &l.count);
	_cleanup_free_ struct history_source *taken = xcalloc(l.count + 1, sizeof(*taken));
	struct chain_generation_from from = { dir, window, chain_names_new() };
	int status;

	l.sources = sources;
	l.taken = taken;
	r->names = from.names;
	r->dir = xstrdup(dir);
	status = open_sources(r, &from, &l, err);
	if (status == 0)
		*ret = STEAL(r);
	return status;
}

static int reader_open(const char *samples, const struct window *window, opener *open_sources,
		       struct chain_reader **ret, struct error *err)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	_cleanup_free_ char *dir = path_join(samples, CHAIN_DIRECTORY);
	int i, status = -ENOENT;

	/* What a file that has vanished held is in another one, which was not there when the
	 * directory was read. */
	for (i = 0; i < TRIES_MAX && status == -ENOENT; i++)
		status = open_once(dir, window, open_sources, &r, err);
	if (status < 0)
		return status;
	if (!r->count)
		return error_set(err, -ENOENT, "%s: no call chains were recorded%s", samples,
				 window && sources_next(dir, &history_chains) ? " in this time"
									      : "");
	*ret = STEAL(r);
	return 0;
}

int chain_reader_open(const char *samples, const struct window *window, struct chain_reader **ret,
		      struct error *err)
{
	return reader_open(samples, window, window ? open_window : open_all, ret, err);
}

int chain_reader_open_unsummed(const char *samples, const struct window *window,
			       struct chain_reader **ret, struct error *err)
{
	return reader_open(samples, window, open_unsummed, ret, err);
}

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
		const struct chain_generation *g = &r->generations[k];

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

/* Reports a chain of a slice, unless it is invalid. */
static int report(struct chain_reader *r, const struct chain_generation *g, struct chain *chain,
		  const struct chain_visitor *v)
{
	uint32_t context = 0;

	if (v->nodes_only)
		return v->each(0, chain, v->data);
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
		chain.node = before + (uint32_t)node;
		status = report(r, g, &chain, v);
	}
	return status;
}

/* Reports all slices of a pair of files. */
static int each_slice(struct chain_reader *r, const struct chain_generation *g,
		      struct slices *slices, const struct chain_visitor *v)
{
	_cleanup_free_ uint32_t *left = xcalloc(g->nodes.count, sizeof(*left));
	struct slice slice;
	int status = 0;
	uint32_t i;

	for (i = 1; i < g->nodes.count; i++)
		left[i] = chain_generation_stored(g, i).count;
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

/* Reports the slices of a segment that are in the window. */
static int each_of_segment(struct chain_reader *r, const struct chain_generation *g,
			   const struct chain_visitor *v)
{
	struct chain chain = { .frames = r->frames };
	struct segment_counts c;
	uint32_t before = chain_reader_nodes_before(r, g);
	int status = 0;
	size_t i, k;

	for (i = 0; i < segment_about(g->segment)->slices && status == 0; i++) {
		const struct slice *slice = &segment_slice_at(g->segment, i)->slice;

		if (!g->wanted[i] || (v->wants && !v->wants(slice, v->data)) ||
		    segment_counts(g->segment, i, &c) < 0)
			continue;
		for (k = 0; k < c.count && status == 0; k++) {
			chain.samples = c.counts[k];
			chain.is_function = chain_generation_is_function(g, c.nodes[k]);
			chain.node = before + c.nodes[k];
			if (chain.samples)
				status = report(r, g, &chain, v);
		}
		if (status == 0)
			status = v->end(slice, v->data);
	}
	return status;
}

int chain_reader_each_slice(struct chain_reader *r, const struct chain_visitor *v)
{
	int status = 0;
	size_t i;

	for (i = 0; i < r->count && status == 0; i++) {
		_cleanup_(slices_freep) struct slices *slices = NULL;

		if (r->generations[i].segment)
			status = each_of_segment(r, &r->generations[i], v);
		else if (chain_past_open(r->dir, r->generations[i].number, &slices, NULL) == 0)
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

struct chain_skipped chain_reader_skipped(const struct chain_reader *r)
{
	struct chain_skipped sum = { .bytes = r->damaged };
	size_t i;

	for (i = 0; i < r->count; i++) {
		sum.bytes += r->generations[i].past.damaged + r->generations[i].damaged;
		sum.samples += r->generations[i].past.unknown;
	}
	return sum;
}

uint64_t chain_reader_folded(const struct chain_reader *r)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < r->count; i++)
		sum += r->generations[i].folded;
	return sum;
}

void chain_reader_arcs(const struct chain_reader *r,
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

void chain_reader_check(const struct chain_reader *r, struct chain_damage *ret)
{
	size_t i;

	*ret = (struct chain_damage){ 0 };
	for (i = 0; i < r->count; i++) {
		if (r->generations[i].segment) /* history_check() does it */
			continue;
		check_generation(&r->generations[i], ret);
		ret->bytes += r->generations[i].names_damaged;
	}
	ret->any = ret->nodes || ret->emptied || ret->missing || ret->bytes;
}
