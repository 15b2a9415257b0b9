/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history_drift.h"

#include "history_replay.h"

#include "base/hash.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "chains/chain_names.h"
#include "file/path.h"
#include "history/history_kind.h"
#include "history/history_source.h"
#include "history/segment.h"
#include "history/segment_tree.h"
#include "history/segment_writer.h"
#include "sfile/sname.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MINUTE_MS INT64_C(60000)

enum { OFFSETS = 4096 /* that a rare place moves by, at most */ };

struct drift {
	const struct history_drift_how *how;
	struct segment *from;
	const struct segment_about *about;
	int64_t later_ms;
	struct segment_tree tree;
	struct chain_names *was, *is; /* of call chains */
	uint32_t generation;
};

static _noreturn_ void give_up(const char *what)
{
	(void)fprintf(stderr, "history_drift: %s\n", what);
	exit(1);
}

/* --- names --- */

/* What an image is called by then; the caller frees. */
static char *later_name(const struct drift *d, const char *name)
{
	const char *mark = strrchr(name, HISTORY_REPLAY_SHORT);
	int64_t now_ms = d->how->begin_ms;
	size_t length = strcspn(name, "#");
	uint64_t version;

	if (mark && strspn(mark + 1, "0123456789abcdef") == strlen(mark + 1)) {
		version = strtoull(mark + 1, NULL, 16) + (uint64_t)(d->later_ms / MINUTE_MS);
		return xasprintf("%.*s%c%" PRIx64, (int)(mark - name), name, HISTORY_REPLAY_SHORT,
				 version);
	}
	return history_replay_built(name, length, history_replay_builds(name, length, now_ms));
}

/* A line of the flat history; the caller frees. */
static char *later_file(const struct drift *d, const char *line)
{
	const char *at = strrchr(line, '\t');
	_cleanup_free_ char *path = xstrdup(at ? at + 1 : ""), *app = NULL, *image = NULL;
	_cleanup_free_ char *later_path = NULL;
	struct strbuf out = STRBUF_INIT;
	struct sname name, later;

	if (text_unescape_field(path) < 0 || sname_parse(path, &name, NULL) < 0)
		give_up("bad name");
	later = name;
	if (name.app.kind == SNAME_ROOT)
		later.app.name = app = later_name(d, name.app.name);
	if (name.image.kind == SNAME_ROOT && strncmp(line, "kernel\t", 7) != 0)
		later.image.name = image = later_name(d, name.image.name);
	later_path = sname_mangle(&later);
	strbuf_add(&out, line, (size_t)(at + 1 - line));
	text_add_field(&out, later_path);
	sname_done(&name);
	return strbuf_take(&out);
}

/* The number in ->is of image number @image of ->was. */
static uint32_t later_image(struct drift *d, uint32_t image)
{
	struct sname_image later = *chain_names_image_at(d->was, image);
	bool is_kernel = chain_names_is_kernel(d->was, image);
	_cleanup_free_ char *name = NULL;
	uint32_t number;

	if (later.kind == SNAME_ROOT && !is_kernel)
		later.name = name = later_name(d, later.name);
	if (chain_names_image(d->is, &later, is_kernel, &number, NULL) < 0)
		give_up("no more images");
	return number;
}

/* A line of call chains; the caller frees. */
static char *later_frame(struct drift *d, const char *line)
{
	_cleanup_free_ char *copy = xstrdup(line);
	struct strbuf out = STRBUF_INIT;
	struct chain_context later;
	uint32_t image, context;

	if (chain_names_take(d->was, copy, &image, &context) < 0)
		give_up("bad name");
	if (image) {
		chain_names_put_image(d->is, later_image(d, image), &out);
		return strbuf_take(&out);
	}
	later = *chain_names_context_at(d->was, context);
	later.app = later_image(d, later.app);
	if (chain_names_context(d->is, &later, &context, NULL) < 0)
		give_up("no more contexts");
	chain_names_put_context(d->is, context, &out);
	return strbuf_take(&out);
}

/* Adds the lines to the tree; returns their numbers there, caller frees. */
static uint32_t *add_lines(struct drift *d)
{
	uint32_t *numbers = xcalloc(d->about->lines + 1, sizeof(*numbers)), i;
	bool is_flat = d->how->kind == &history_flat;

	d->was = chain_names_new();
	d->is = chain_names_new();
	for (i = 1; i <= d->about->lines; i++) {
		const char *line = segment_line(d->from, i);
		_cleanup_free_ char *later = is_flat ? later_file(d, line) : later_frame(d, line);

		numbers[i] = segment_tree_line(&d->tree, later);
	}
	chain_names_close(d->was);
	chain_names_close(d->is);
	return numbers;
}

/* --- counts --- */

/* The counts of each node and all below it; the caller frees. */
static uint64_t *inclusive(struct drift *d)
{
	const struct segment_node *nodes = segment_nodes(d->from);
	const uint64_t *totals;
	uint64_t *sums;
	size_t i;

	if (segment_totals(d->from, &totals, NULL) < 0)
		give_up("no totals");
	sums = xmemdup(totals, (d->about->nodes + 1) * sizeof(*sums));
	for (i = d->about->nodes; i > 0; i--)
		sums[nodes[i].parent] += sums[i];
	return sums;
}

/* Adds the nodes, with the same numbers. What has once, or little more than what is kept at this
 * level, is elsewhere by then. */
static void add_nodes(struct drift *d, const uint32_t *lines)
{
	const struct segment_node *nodes = segment_nodes(d->from);
	_cleanup_free_ uint64_t *sums = inclusive(d);
	uint64_t part = d->how->kind->parts[d->about->level], rare;
	uint32_t i;

	rare = MAX(UINT64_C(1), part ? 2 * d->about->counts / part : 0);
	for (i = 1; i <= d->about->nodes; i++) {
		struct segment_node n = nodes[i];

		if (n.parent && sums[i] <= rare && n.key >> 47 == 0 &&
		    (sums[n.parent] > rare || !nodes[n.parent].parent))
			n.key += 1 + hash_u64(n.key ^ (uint64_t)d->how->begin_ms) % OFFSETS;
		(void)segment_tree_append(&d->tree, n.parent, lines[n.line], n.key);
	}
}

static void add_slice(struct drift *d, struct segment_writer *w, size_t i)
{
	struct segment_slice s = *segment_slice_at(d->from, i);
	_cleanup_free_ struct segment_count *list = NULL;
	struct segment_counts c;
	size_t k;

	if (segment_counts(d->from, i, &c) < 0)
		give_up("a slice is damaged");
	list = xcalloc(c.count + 1, sizeof(*list));
	for (k = 0; k < c.count; k++)
		list[k] = (struct segment_count){ c.nodes[k], c.counts[k] };
	s.slice.span.begin_ms += d->later_ms;
	s.slice.span.end_ms += d->later_ms;
	s.generation = d->generation;
	segment_writer_slice(w, &s, list, c.count);
}

static void write_copy(const struct drift *d, const char *dir, const struct strbuf *bytes)
{
	const struct history_source to = { .kind = d->how->kind,
					   .level = d->about->level,
					   .first = d->generation,
					   .last = d->generation,
					   .is_segment = true };
	const time_t end = (time_t)((d->about->span.end_ms + d->later_ms) / 1000);
	const struct timespec at[] = { { end, 0 }, { end, 0 } };
	_cleanup_free_ char *path = source_path(dir, &to);
	FILE *f = fopen(path, "we");

	if (!f || fwrite(bytes->text, 1, bytes->length, f) != bytes->length || fclose(f) != 0 ||
	    utimensat(AT_FDCWD, path, at, 0) < 0)
		give_up("cannot write");
}

static void copy(struct drift *d, const char *dir)
{
	const struct segment_about about = { .level = d->about->level,
					     .first = d->generation,
					     .last = d->generation };
	_cleanup_free_ uint32_t *lines = add_lines(d);
	_cleanup_free_ uint32_t *to = xcalloc(d->about->nodes + 1, sizeof(*to));
	_cleanup_(segment_writer_freep) struct segment_writer *w = NULL;
	_cleanup_(strbuf_done) struct strbuf bytes = STRBUF_INIT;
	struct segment_forecast forecast = { .slices = d->about->slices };
	size_t i;

	if (segment_totals(d->from, &forecast.counts, NULL) < 0)
		give_up("no totals");
	add_nodes(d, lines);
	for (i = 0; i <= d->about->nodes; i++)
		to[i] = (uint32_t)i;
	w = segment_writer_new(&d->tree, to, d->about->nodes,
			       d->about->level && !d->how->is_brief ? &forecast : NULL);
	for (i = 0; i < d->about->slices; i++)
		add_slice(d, w, i);
	if (segment_writer_finish(w, &about, &bytes) < 0)
		give_up("the copy is too large");
	write_copy(d, dir, &bytes);
}

uint64_t history_drift(const struct history_drift_how *how)
{
	struct drift d = { .how = how, .later_ms = how->begin_ms - how->from_ms };
	_cleanup_free_ char *dir = path_join(how->samples, how->kind->directory);
	_cleanup_(segment_freep) struct segment *from = NULL;

	if (segment_open(how->from, &from, NULL) < 0 || segment_load(from, NULL) < 0)
		give_up("cannot read the segment");
	d.from = from;
	d.about = segment_about(from);
	if (sources_next(dir, how->kind, &d.generation, NULL) < 0)
		give_up("cannot list the segments");
	segment_tree_init(&d.tree);
	copy(&d, dir);
	segment_tree_done(&d.tree);
	return d.about->samples;
}
