/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/segment.h"

#include "base/mem.h"
#include "file/holes.h"
#include "file/open_regular.h"
#include "history/internal/segment_block.h"
#include "history/internal/segment_columns.h"
#include "history/internal/segment_format.h"
#include "history/internal/segment_shape.h"
#include "history/segment_made.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/* Times that a clock shows are within a thousand years of 1970. */
#define TIME_MAX (INT64_C(1) << 45)

struct segment {
	char *name; /* for messages */
	struct segment_bytes from;
	struct segment_header header;
	struct segment_about about;
	struct segment_entry *index;
	struct segment_slice *slices;
	char *text; /* of ->lines */
	const char **lines;
	struct segment_shape shape; /* of a file */
	struct segment_node *nodes; /* of a file: NULL until they are asked for */
	uint64_t *totals;
	struct segment_columns columns; /* ->values is NULL: not known yet */
	uint32_t *ids;			/* of the counts that were read last */
	uint64_t *counts;
	size_t ids_room, counts_room;
	ZSTD_DCtx *zstd;
	struct segment_made *made; /* it has the lines, nodes and counts; NULL: it is a file */
};

static struct slice_numbers numbers_of(const uint8_t *raw, const struct segment_block *b)
{
	return (struct slice_numbers){ raw, raw + b->size, false };
}

/* Says what is damaged, or why nothing can be read; returns @status. */
static int fail(const struct segment *s, int status, const char *damaged, struct error *err)
{
	return status == -EBADMSG ? error_set(err, status, "%s: %s", s->name, damaged)
				  : error_errno(err, status, "%s", s->name);
}

/* --- opening --- */

static int read_header(struct segment *s)
{
	struct segment_header *h = &s->header;
	int r = segment_bytes_copy(&s->from, 0, h, sizeof(*h));

	if (r < 0)
		return r;
	if (h->magic != SEGMENT_MAGIC || h->first > h->last || h->nodes > SEGMENT_NODES_MAX ||
	    h->places > h->nodes || h->lines > SEGMENT_NODES_MAX ||
	    (uint32_t)crc32_z(0, (const uint8_t *)&h->level,
			      sizeof(*h) - offsetof(struct segment_header, level)) != h->crc)
		return -EBADMSG;
	s->about = (struct segment_about){ .level = h->level,
					   .first = h->first,
					   .last = h->last,
					   .span = { h->begin_ms, h->end_ms },
					   .slices = h->slices,
					   .nodes = h->nodes,
					   .places = h->places,
					   .lines = h->lines,
					   .samples = h->samples,
					   .counts = h->counts,
					   .bytes = s->from.size };
	return 0;
}

static bool take_entry(struct segment *s, size_t i)
{
	const struct segment_entry *e = &s->index[i];

	s->slices[i] = (struct segment_slice){ .slice = { .span = { e->begin_ms, e->end_ms },
							  .samples = e->samples,
							  .taken = e->taken,
							  .lost = e->lost,
							  .cpu_ms = e->cpu_ms },
					       .covered_ms = e->covered_ms,
					       .generation = e->generation,
					       .counts = e->counts,
					       .bytes = e->block.stored };
	return -TIME_MAX < e->begin_ms && e->begin_ms < e->end_ms && e->end_ms < TIME_MAX &&
	       e->counts <= s->header.nodes && e->generation >= s->header.first &&
	       e->generation <= s->header.last;
}

static int read_index(struct segment *s)
{
	const struct segment_block *b = &s->header.blocks[SEGMENT_INDEX];
	struct window span = { 0, 0 };
	uint8_t *raw = NULL;
	size_t i;
	int r = segment_block_read(&s->from, s->zstd, b, &raw);

	if (r < 0)
		return r;
	s->index = (struct segment_entry *)(void *)raw;
	if (b->size != (uint64_t)s->header.slices * sizeof(*s->index))
		return -EBADMSG;
	s->slices = xcalloc((size_t)s->header.slices + 1, sizeof(*s->slices));
	for (i = 0; i < s->header.slices; i++) {
		const struct segment_entry *e = &s->index[i];

		if (!take_entry(s, i))
			return -EBADMSG;
		span.begin_ms = i ? MIN(span.begin_ms, e->begin_ms) : e->begin_ms;
		span.end_ms = i ? MAX(span.end_ms, e->end_ms) : e->end_ms;
	}
	return span.begin_ms == s->header.begin_ms && span.end_ms == s->header.end_ms ? 0
										      : -EBADMSG;
}

static int begin(struct segment *s, struct error *err)
{
	int r;

	s->zstd = ZSTD_createDCtx();
	if (!s->zstd)
		return error_errno(err, -ENOMEM, "%s", s->name);
	r = read_header(s);
	if (r == 0)
		r = read_index(s);
	return r < 0 ? fail(s, r, "damaged", err) : 0;
}

int segment_open(const char *path, struct segment **ret, struct error *err)
{
	_cleanup_(segment_freep) struct segment *s = xcalloc(1, sizeof(*s));
	struct stat st;
	int r;

	s->name = xstrdup(path);
	s->from.fd = open_regular(path, O_RDONLY | O_NOFOLLOW);
	if (s->from.fd < 0)
		return error_set(err, s->from.fd, "%s: %s", path, open_regular_why(s->from.fd));
	if (fstat(s->from.fd, &st) < 0)
		return error_errno(err, -errno, "%s", path);
	s->from.size = (uint64_t)st.st_size;
	if (holes_prevail(s->from.fd, s->from.size))
		return error_set(err, -EBADMSG, "%s: %s", path, holes_text);
	r = begin(s, err);
	if (r == 0)
		*ret = STEAL(s);
	return r;
}

int segment_open_bytes(const void *bytes, size_t size, struct segment **ret, struct error *err)
{
	_cleanup_(segment_freep) struct segment *s = xcalloc(1, sizeof(*s));
	int r;

	s->name = xstrdup("segment");
	s->from.fd = -1;
	s->from.bytes = bytes;
	s->from.size = size;
	r = begin(s, err);
	if (r == 0)
		*ret = STEAL(s);
	return r;
}

struct segment *segment_of(struct segment_made *m)
{
	struct segment *s = xcalloc(1, sizeof(*s));

	segment_tree_end(&m->tree);
	s->from.fd = -1;
	s->made = xmemdup(m, sizeof(*m));
	*m = (struct segment_made){ 0 };
	s->lines = s->made->tree.lines;
	s->nodes = s->made->tree.nodes;
	s->slices = s->made->slices;
	s->about.slices = s->made->slice_count;
	s->about.lines = s->made->tree.line_count;
	s->about.nodes = s->made->tree.count;
	return s;
}

void segment_unload_names(struct segment *s)
{
	if (s->made)
		return;
	free(STEAL(s->text));
	free(STEAL(s->lines));
}

void segment_unload(struct segment *s)
{
	if (s->made)
		return;
	segment_unload_names(s);
	free(STEAL(s->nodes));
	segment_shape_done(&s->shape);
	free(STEAL(s->totals));
	free(STEAL(s->ids));
	free(STEAL(s->counts));
	s->ids_room = s->counts_room = 0;
	segment_columns_done(&s->columns);
}

void segment_free(struct segment *s)
{
	if (s && s->made) {
		segment_made_done(s->made);
		free(s->made);
		free(s);
		return;
	}
	if (!s)
		return;
	if (s->from.fd >= 0)
		(void)close(s->from.fd);
	(void)ZSTD_freeDCtx(s->zstd);
	free(s->name);
	free(s->index);
	free(s->slices);
	segment_unload(s);
	free(s);
}

const struct segment_about *segment_about(const struct segment *s)
{
	return &s->about;
}

const char *segment_name(const struct segment *s)
{
	return s->name;
}

const struct segment_slice *segment_slice_at(const struct segment *s, size_t i)
{
	return &s->slices[i];
}

/* --- the tree --- */

static int load_lines(struct segment *s)
{
	const struct segment_block *b = &s->header.blocks[SEGMENT_LINES];
	uint8_t *raw = NULL;
	char *at, *end;
	size_t i;
	int r = segment_block_read(&s->from, s->zstd, b, &raw);

	if (r < 0)
		return r;
	s->text = (char *)raw;
	if (b->size < s->header.lines)
		return -EBADMSG;
	s->lines = xcalloc((size_t)s->header.lines + 1, sizeof(*s->lines));
	s->lines[0] = "";
	for (at = s->text, i = 1; i <= s->header.lines; at = end + 1, i++) {
		s->lines[i] = at;
		end = at < s->text + b->size ? strchr(at, '\n') : NULL;
		if (!end)
			return -EBADMSG;
		*end = '\0';
	}
	return at == s->text + b->size ? 0 : -EBADMSG;
}

/* Reads a block of the tree by @read. */
static int load_block(struct segment *s, enum segment_block_kind kind,
		      bool (*read)(struct segment_shape *shape, struct slice_numbers block))
{
	const struct segment_block *b = &s->header.blocks[kind];
	_cleanup_free_ uint8_t *raw = NULL;
	int r = segment_block_read(&s->from, s->zstd, b, &raw);

	return r < 0 ? r : read(&s->shape, numbers_of(raw, b)) ? 0 : -EBADMSG;
}

static int load_nodes(struct segment *s)
{
	int r;

	s->shape = (struct segment_shape){ .lines = s->header.lines,
					   .places = s->header.places,
					   .nodes = s->header.nodes };
	r = load_block(s, SEGMENT_PLACES, segment_shape_read_places);
	return r < 0 ? r : load_block(s, SEGMENT_NODES, segment_shape_read);
}

static int load_tree(struct segment *s)
{
	return s->shape.parents || s->made ? 0 : load_nodes(s);
}

/* Unloads all if the status is bad. */
static int end_load(struct segment *s, int status, struct error *err)
{
	if (status == 0)
		return 0;
	segment_unload(s);
	return fail(s, status, "the names are damaged", err);
}

int segment_load(struct segment *s, struct error *err)
{
	int r = s->lines || s->made ? 0 : load_lines(s);

	return end_load(s, r < 0 ? r : load_tree(s), err);
}

int segment_load_names(struct segment *s, struct error *err)
{
	static const enum segment_block_kind others[] = { SEGMENT_PLACES, SEGMENT_NODES,
							  SEGMENT_TOTALS };
	int r = s->lines || s->made ? 0 : load_lines(s);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others) && r == 0 && !s->made; i++) {
		_cleanup_free_ uint8_t *stored = NULL;

		r = segment_block_stored(&s->from, &s->header.blocks[others[i]], &stored);
	}
	return end_load(s, r, err);
}

int segment_load_nodes(struct segment *s, struct error *err)
{
	return end_load(s, load_tree(s), err);
}

const char *segment_line(const struct segment *s, uint32_t i)
{
	return s->lines[i];
}

char *segment_take_text(struct segment *s)
{
	return STEAL(s->text);
}

const struct segment_node *segment_nodes(struct segment *s)
{
	uint32_t i;

	if (s->nodes)
		return s->nodes;
	s->nodes = xcalloc((size_t)s->header.nodes + 1, sizeof(*s->nodes));
	for (i = 1; i <= s->header.nodes; i++)
		s->nodes[i] = segment_shape_node(&s->shape, i);
	return s->nodes;
}

struct segment_node segment_node_at(const struct segment *s, uint32_t i)
{
	return s->made ? s->nodes[i] : segment_shape_node(&s->shape, i);
}

uint32_t segment_parent(const struct segment *s, uint32_t i)
{
	return s->made ? s->nodes[i].parent : s->shape.parents[i];
}

uint32_t segment_place(const struct segment *s, uint32_t i)
{
	return s->made ? 0 : s->shape.place_of[i];
}

const uint32_t *segment_parents(const struct segment *s)
{
	return s->shape.parents;
}

const uint32_t *segment_places(const struct segment *s)
{
	return s->shape.place_of;
}

struct segment_node segment_place_at(const struct segment *s, uint32_t place)
{
	return s->shape.at[place];
}

/* --- counts --- */

int segment_totals(struct segment *s, const uint64_t **ret, struct error *err)
{
	const struct segment_block *b = &s->header.blocks[SEGMENT_TOTALS];
	_cleanup_free_ uint8_t *raw = NULL;
	struct slice_numbers n;
	size_t i;
	int r = s->totals ? 0 : segment_block_read(&s->from, s->zstd, b, &raw);

	if (r < 0 || (raw && b->size < s->header.nodes))
		return fail(s, r ?: -EBADMSG, "the totals are damaged", err);
	if (raw) {
		n = numbers_of(raw, b);
		s->totals = xcalloc((size_t)s->header.nodes + 1, sizeof(*s->totals));
		for (i = 1; i <= s->header.nodes; i++)
			s->totals[i] = slice_get(&n);
		if (n.damaged || n.at != n.end) {
			free(s->totals);
			s->totals = NULL;
			return fail(s, -EBADMSG, "the totals are damaged", err);
		}
	}
	*ret = s->totals;
	return 0;
}

/* Finds the nodes that have columns. */
static int find_columns(struct segment *s)
{
	const uint64_t *totals;
	int r;

	if (!s->header.columns || s->columns.values)
		return 0;
	r = segment_totals(s, &totals, NULL);
	if (r == 0)
		segment_columns_init(&s->columns, totals, s->header.nodes, s->header.columns);
	return r;
}

/* Reads the counts of @count nodes. */
static int decode(struct segment *s, const uint8_t *raw, size_t size, size_t count)
{
	struct segment_list list = { .count = count };

	if (count > s->columns.count + size / 2)
		return -EBADMSG;
	array_grow(&s->ids, count + 1, &s->ids_room);
	array_grow(&s->counts, count + 1, &s->counts_room);
	list.ids = s->ids;
	list.counts = s->counts;
	return segment_columns_read(&s->columns, (struct slice_numbers){ raw, raw + size, false },
				    s->header.nodes, &list)
		       ? 0
		       : -EBADMSG;
}

int segment_counts(struct segment *s, size_t i, struct segment_counts *ret)
{
	const struct segment_entry *e = s->made ? NULL : &s->index[i];
	_cleanup_free_ uint8_t *raw = NULL;
	int r;

	if (s->made) {
		*ret = segment_made_counts(s->made, i);
		return 0;
	}
	r = find_columns(s);
	if (r == 0)
		r = segment_block_read(&s->from, s->zstd, &e->block, &raw);
	if (r == 0)
		r = decode(s, raw, e->block.size, e->counts);
	if (r == 0)
		*ret = (struct segment_counts){ s->ids, s->counts, e->counts };
	return r;
}
