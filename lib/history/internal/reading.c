/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/reading.h"

#include "base/mem.h"
#include "history/internal/generations.h"
#include "history/segment.h"
#include "history/segment_tree.h"
#include "history/history_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static_assert(HISTORY_RARE == SEGMENT_RARE, "both are keys of sample files");

/* A line of names that was seen before. */
struct known {
	const char *text;
	uint32_t number; /* of its sample file; 0: it is damaged */
};

/* --- names --- */

/* Remembers that @text has @number. */
static void remember(struct reading *r, struct map *m, const char *text, uint32_t number)
{
	struct known *k = arena_alloc(&r->text, sizeof(*k));

	*k = (struct known){ arena_strdup(&r->text, text), number };
	map_add(m, hash_bytes(text, strlen(text)), k);
}

static const struct known *recall(const struct map *m, const char *text)
{
	const struct known *k;

	map_for_each_of(m, hash_bytes(text, strlen(text)), k) if (!strcmp(k->text, text)) return k;
	return NULL;
}

/* The number of the sample file at @path; it takes the strings of @name if it is new. */
static uint32_t file_of(struct reading *r, struct history_name *name, const char *path)
{
	const struct known *k = recall(&r->by_path, path);

	if (k) {
		sname_done(&name->name);
		return k->number;
	}
	array_grow(&r->files, r->file_count + 1, &r->file_room);
	array_grow(&r->keyless, r->file_count + 1, &r->keyless_room);
	r->keyless[r->file_count] = r->wants_keys && !r->wants_keys(&name->name, r->keys_data);
	r->files[r->file_count++] = (struct history_file){ .about = *name };
	remember(r, &r->by_path, path, (uint32_t)r->file_count);
	return (uint32_t)r->file_count;
}

/* The number of the sample file of a line; 0 if it is damaged. */
static uint32_t number_of(struct reading *r, const char *line)
{
	const struct known *k = recall(&r->by_line, line);
	_cleanup_free_ char *copy = NULL;
	struct history_name name;
	uint32_t number;
	char *path;

	if (k)
		return k->number;
	copy = xstrdup(line);
	number = generation_parse_name(copy, &name, &path) == 0 ? file_of(r, &name, path) : 0;
	remember(r, &r->by_line, line, number);
	return number;
}

static void add_number(struct reading *r, uint32_t number)
{
	array_grow(&r->numbers, r->count + 1, &r->room);
	r->numbers[r->count++] = number;
}

/* Adds a name. A bad line has no number, but counts: numbers are those of lines. */
static void add_name(char *line, size_t bytes, void *data)
{
	struct reading *r = data;
	uint32_t number = line ? number_of(r, line) : 0;

	r->damaged += number ? 0 : bytes;
	add_number(r, number);
}

/* Adds a name that is parsed when it is needed. */
static void add_name_for_later(char *line, size_t bytes, void *data)
{
	struct reading *r = data;

	array_grow(&r->lines, r->count + 1, &r->line_room);
	r->lines[r->count] = line ? arena_strdup(&r->text, line) : NULL;
	r->damaged += line ? 0 : bytes;
	add_number(r, line ? READING_LATER : 0);
}

static uint32_t number_at(struct reading *r, uint32_t line)
{
	uint32_t *number = &r->numbers[line - 1];

	if (*number == READING_LATER) {
		const char *text = r->lines[line - 1];

		*number = number_of(r, text);
		r->damaged += *number ? 0 : strlen(text) + 1;
	}
	return *number;
}

/* --- slices --- */

static uint32_t step_of(const struct reading *r, const struct slice *slice)
{
	return r->steps ? steps_at(r->steps, &slice->span) : 0;
}

/* Begins with the counts of a slice. */
static void begin_slice(struct reading *r, const struct slice *slice)
{
	r->step = step_of(r, slice);
}

/* Ends the slice, all of whose counts were added. */
static void end_slice(struct reading *r, const struct slice *slice, unsigned int level,
		      int64_t gaps_ms)
{
	array_grow(&r->extents, r->extent_count + 1, &r->extent_room);
	r->extents[r->extent_count++] = (struct extent){ *slice, gaps_ms, level };
	if (r->each)
		r->each(r, slice);
}

static struct tally_entry entry_of(const struct reading *r, uint32_t file, uint64_t key,
				   uint64_t count)
{
	return (struct tally_entry){
		.file = file, .key = r->keyless[file - 1] ? 0 : key, .count = count, .step = r->step
	};
}

static void add_count(uint32_t line, uint64_t key, uint64_t count, void *data)
{
	struct reading *r = data;
	uint32_t number = number_at(r, line);

	if (number)
		tally_add(&r->tally, entry_of(r, number, key, count));
}

/* Whether another source, which was read, has the generation. */
static bool is_taken(const struct reading *r, uint32_t generation)
{
	size_t i;

	for (i = 0; i < r->taken_count; i++)
		if (r->taken[i].first <= generation && generation <= r->taken[i].last)
			return true;
	return false;
}

/* Reads the names of a generation. -ENOENT if it was removed meanwhile, first its slices and then
 * its names; names that are missing without that are damage. */
static int read_names(struct reading *r, const char *names, const char *slices)
{
	r->count = 0;
	if (generation_each_line(names, add_name_for_later, r) == -ENOENT &&
	    access(slices, F_OK) < 0)
		return -ENOENT;
	return 0;
}

/* The names are read when the first slice is found, and after the slices: a name is written before
 * a slice refers to it. */
int reading_generation(struct reading *r, const struct history_source *source, struct error *err)
{
	_cleanup_free_ char *slices = source_path(r->dir, source);
	_cleanup_free_ char *names = generation_names_path(r->dir, source->first);
	_cleanup_(slices_freep) struct slices *s = NULL;
	struct slice slice;
	bool named = false;
	int status;

	if (is_taken(r, source->first))
		return 0;
	status = slices_read(slices, &s, err);
	if (status < 0)
		return status;
	while (slices_next(s, &slice)) {
		struct generation_content c = { 0 };

		if (!window_overlaps(&slice.span, r->window))
			continue;
		if (!named && read_names(r, names, slices) < 0)
			return error_set(err, -ENOENT, "%s: has vanished", slices);
		named = true;
		begin_slice(r, &slice);
		c.bytes = slices_content(s, &c.size);
		c.lines = r->count;
		if (c.bytes && generation_each_count(&c, add_count, r))
			end_slice(r, &slice, 0, 0);
		else
			r->damaged += c.size;
	}
	r->damaged += slices_damaged(s);
	if (!r->each)
		pile_take(&r->pile, &r->tally);
	return 0;
}

/* --- segments --- */

/* A segment being read. */
struct part {
	struct segment *segment;
	const struct segment_node *nodes;
	uint32_t *files; /* their numbers, by node; 0: it has no counts of a file */
	const struct history_source *source;
	/* Of the slices of a step: the sum of each node, and which nodes have any. */
	uint64_t *sums;
	uint32_t *touched;
	size_t count;
};

/* Finds the file of each node: that of its root. */
static void find_files(struct reading *r, struct part *p)
{
	const struct segment_about *about = segment_about(p->segment);
	uint32_t i;

	r->count = 0;
	for (i = 1; i <= about->lines; i++) {
		_cleanup_free_ char *line = xstrdup(segment_line(p->segment, i));

		add_name(line, strlen(line), r);
	}
	p->files = xcalloc(about->nodes + 1, sizeof(*p->files));
	for (i = 1; i <= about->nodes; i++) {
		uint32_t parent = p->nodes[i].parent, line = p->nodes[i].line;

		if (parent)
			p->files[i] = p->files[parent];
		else if (line)
			p->files[i] = r->numbers[line - 1];
	}
}

static void add_node(struct reading *r, const struct part *p, uint32_t node, uint64_t count)
{
	struct tally_entry e;

	if (!p->files[node] || !count)
		return;
	e = entry_of(r, p->files[node], p->nodes[node].key, count);
	if (r->each)
		tally_add(&r->tally, e);
	else
		pile_add(&r->pile, &e);
	if (p->nodes[node].key == SEGMENT_RARE)
		r->folded += count;
}

/* Adds the sums of the slices of a step. */
static void end_step(struct reading *r, struct part *p)
{
	size_t i;

	for (i = 0; i < p->count; i++) {
		add_node(r, p, p->touched[i], p->sums[p->touched[i]]);
		p->sums[p->touched[i]] = 0;
	}
	p->count = 0;
}

static void add_to_step(struct part *p, const struct segment_counts *c)
{
	size_t i;

	for (i = 0; i < c->count; i++) {
		uint64_t *sum = &p->sums[c->nodes[i]];

		if (!*sum && c->counts[i])
			p->touched[p->count++] = c->nodes[i];
		if (__builtin_add_overflow(*sum, c->counts[i], sum))
			*sum = UINT64_MAX;
	}
}

static bool is_wanted(const struct reading *r, const struct segment_slice *s)
{
	return window_overlaps(&s->slice.span, r->window) && !is_taken(r, s->generation);
}

static void end_segment_slice(struct reading *r, const struct part *p,
			      const struct segment_slice *s)
{
	int64_t length_ms = s->slice.span.end_ms - s->slice.span.begin_ms,
		covered_ms = (int64_t)MIN(s->covered_ms, (uint64_t)length_ms);

	end_slice(r, &s->slice, p->source->level, length_ms - covered_ms);
}

/* Adds the slices that are wanted one by one. */
static void add_slices(struct reading *r, struct part *p)
{
	size_t i;

	for (i = 0; i < segment_about(p->segment)->slices; i++) {
		const struct segment_slice *s = segment_slice_at(p->segment, i);
		struct segment_counts c;

		if (!is_wanted(r, s))
			continue;
		if (segment_counts(p->segment, i, &c) < 0) {
			r->damaged += s->bytes;
			continue;
		}
		if (step_of(r, &s->slice) != r->step)
			end_step(r, p);
		begin_slice(r, &s->slice);
		add_to_step(p, &c);
		if (r->each)
			end_step(r, p);
		end_segment_slice(r, p, s);
	}
	end_step(r, p);
}

/* Adds the sums of all slices at once; false if they are not available. */
static bool add_totals(struct reading *r, const struct part *p)
{
	const struct segment_about *about = segment_about(p->segment);
	const uint64_t *totals;
	uint32_t i;

	for (i = 0; i < about->slices; i++)
		if (r->steps || r->each || !is_wanted(r, segment_slice_at(p->segment, i)))
			return false;
	r->step = 0;
	if (segment_totals(p->segment, &totals, NULL) < 0)
		return false;
	for (i = 1; i <= about->nodes; i++)
		add_node(r, p, i, totals[i]);
	for (i = 0; i < about->slices; i++)
		end_segment_slice(r, p, segment_slice_at(p->segment, i));
	return true;
}

int reading_segment(struct reading *r, const struct history_source *source, struct error *err)
{
	_cleanup_free_ char *path = source_path(r->dir, source);
	_cleanup_(segment_freep) struct segment *s = NULL;
	const struct segment_about *about;
	struct part p = { .source = source };
	int status = segment_open(path, &s, err);

	if (status < 0)
		return status;
	about = segment_about(s);
	if (about->level != source->level || about->first != source->first ||
	    about->last != source->last)
		return error_set(err, -EBADMSG, "%s: has the name of another segment", path);
	if (!window_overlaps(&about->span, r->window))
		return 0;
	status = segment_load(s, err);
	if (status < 0)
		return status;
	p.segment = s;
	p.nodes = segment_nodes(s);
	find_files(r, &p);
	if (!add_totals(r, &p)) {
		p.sums = xcalloc(about->nodes + 1, sizeof(*p.sums));
		p.touched = xcalloc(about->nodes + 1, sizeof(*p.touched));
		add_slices(r, &p);
	}
	free(p.files);
	free(p.sums);
	free(p.touched);
	return 0;
}

void reading_done(struct reading *r)
{
	pile_done(&r->pile);
	tally_done(&r->tally);
	map_done(&r->by_line);
	map_done(&r->by_path);
	arena_done(&r->text);
	free(r->numbers);
	free(r->lines);
	free(r->keyless);
	free(r->extents);
	free(r->taken);
}
