/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/reading.h"

#include "base/mem.h"
#include "base/parallel.h"
#include "history/internal/generations.h"
#include "history/internal/part.h"
#include "history/segment.h"
#include "history/segment_tree.h"
#include "history/history_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static_assert(HISTORY_RARE == SEGMENT_RARE && HISTORY_FUNCTION == SEGMENT_FUNCTION,
	      "both are keys of sample files");

/* --- names --- */

static uint64_t hash_of(const struct sname_parts *name)
{
	return hash_u64((uintptr_t)name->app ^ (uintptr_t)name->image << 16 ^
			(uintptr_t)name->rest << 32);
}

static bool is_same(const struct sname_parts *a, const struct sname_parts *b)
{
	return a->app == b->app && a->image == b->image && a->rest == b->rest;
}

static bool is_keyless(const struct reading *r, const struct sname_parts *parts)
{
	const struct sname name = sname_of_parts(parts);

	return !r->wants_keys(&name, r->keys_data);
}

uint32_t reading_file(struct reading *r, const struct history_file *about)
{
	const uint64_t hash = hash_of(&about->name);
	uintptr_t known;

	map_for_each_of(&r->by_name, hash, known) if (is_same(&r->files[known - 1].name,
							      &about->name)) return (uint32_t)known;
	array_grow(&r->files, r->file_count + 1, &r->file_room);
	array_grow(&r->keyless, r->file_count + 1, &r->keyless_room);
	r->keyless[r->file_count] = r->wants_keys && is_keyless(r, &about->name);
	r->files[r->file_count++] = *about;
	map_add(&r->by_name, hash, (void *)(uintptr_t)r->file_count);
	return (uint32_t)r->file_count;
}

uint32_t reading_parse(struct reading *r, const char *line)
{
	struct history_file about = { 0 };

	return file_names_parse(&r->names, line, &about) == 0 ? reading_file(r, &about) : 0;
}

/* The number of a line that is parsed later, and stays until then. */
static uint32_t unparsed(struct reading *r, const char *line)
{
	const size_t length = strlen(line);
	const uint64_t hash = hash_text(line, length);
	uintptr_t known;

	map_for_each_of(&r->by_text, hash,
			known) if (!strcmp(r->unparsed[known - 1], line)) return (uint32_t)known;
	array_grow(&r->unparsed, r->unparsed_count + 1, &r->unparsed_room);
	r->unparsed[r->unparsed_count++] = line;
	map_add(&r->by_text, hash, (void *)(uintptr_t)r->unparsed_count);
	return (uint32_t)r->unparsed_count;
}

/* The number of the sample file of a line; 0 if it is damaged. */
static uint32_t number_of(struct reading *r, const char *line)
{
	return r->top ? unparsed(r, line) : reading_parse(r, line);
}

static void add_number(struct reading *r, uint32_t number)
{
	array_grow(&r->numbers, r->count + 1, &r->room);
	r->numbers[r->count++] = number;
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

/* Ends a slice, all of whose counts were added. */
static void end_slice(struct reading *r, struct extent extent)
{
	array_grow(&r->extents, r->extent_count + 1, &r->extent_room);
	r->extents[r->extent_count++] = extent;
	if (r->each)
		r->each(r, &extent.slice);
}

static struct history_count entry_of(const struct reading *r, uint32_t file, uint64_t key,
				     uint64_t count)
{
	return (struct history_count){ .file = file,
				       .key = !r->top && r->keyless[file - 1] ? 0 : key,
				       .count = count,
				       .step = r->step };
}

static void note_folded(struct reading *r, uint64_t key, uint64_t count)
{
	if (key == HISTORY_RARE)
		r->folded += count;
	else if (history_is_function(key))
		r->functions += count;
}

void reading_unfold(struct reading *r, const struct history_count *left_out)
{
	uint64_t *sum = left_out->key == HISTORY_RARE	     ? &r->folded
			: history_is_function(left_out->key) ? &r->functions
							     : NULL;

	if (sum)
		*sum -= MIN(left_out->count, *sum);
}

/* Generations have what is folded, too, in archives. */
static void add_count(uint32_t line, uint64_t key, uint64_t count, void *data)
{
	struct reading *r = data;
	uint32_t number = number_at(r, line);

	if (!number)
		return;
	tally_add(&r->tally, entry_of(r, number, key, count));
	note_folded(r, key, count);
}

static struct part_wanted wanted_of(const struct reading *r)
{
	return (struct part_wanted){ r->dir,	     r->window,	      r->steps,	     r->taken,
				     r->taken_count, r->each != NULL, r->covers_only };
}

/* Whether another source, which was read, has the generation. */
static bool is_taken(const struct reading *r, uint32_t generation)
{
	const struct part_wanted wanted = wanted_of(r);

	return part_is_taken(&wanted, generation);
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
		if (r->covers_only) {
			end_slice(r, (struct extent){ slice, 0, 0 });
			continue;
		}
		if (!named && read_names(r, names, slices) < 0)
			return error_set(err, -ENOENT, "%s: has vanished", slices);
		named = true;
		begin_slice(r, &slice);
		c.bytes = slices_content(s, &c.size);
		c.lines = r->count;
		if (c.bytes && generation_each_count(&c, add_count, r))
			end_slice(r, (struct extent){ slice, 0, 0 });
		else
			r->damaged += c.size;
	}
	r->damaged += slices_damaged(s);
	if (!r->each)
		pile_take(&r->pile, &r->tally);
	return 0;
}

/* --- segments --- */

/* Finds the file of each line of a segment. A bad line has no number, but counts: numbers are those
 * of lines. */
static void find_numbers(struct reading *r, const struct part *p)
{
	uint32_t lines = (uint32_t)segment_about(p->segment)->lines, i;

	r->count = 0;
	for (i = 1; i <= lines; i++) {
		const char *line = segment_line(p->segment, i);
		uint32_t number = number_of(r, line);

		r->damaged += number ? 0 : strlen(line);
		add_number(r, number);
	}
	if (!r->top)
		return;
	array_grow(&r->texts, r->text_count + 1, &r->text_room);
	r->texts[r->text_count++] = segment_take_text(p->segment);
}

/* Finds the file of each node: that of its root. Returns their numbers, 0 if it has no counts of a
 * file; caller frees. */
static uint32_t *find_files(struct reading *r, const struct part *p)
{
	size_t count = segment_about(p->segment)->nodes;
	uint32_t *files = xcalloc(count + 1, sizeof(*files)), i;

	find_numbers(r, p);
	for (i = 1; i <= count; i++) {
		const struct segment_node n = segment_node_at(p->segment, i);

		if (n.parent)
			files[i] = files[n.parent];
		else if (n.line)
			files[i] = r->numbers[n.line - 1];
	}
	return files;
}

/* Adds a count of a node, with the number of its file. */
static void add_node(struct reading *r, const struct segment *s, uint32_t node, uint32_t file,
		     uint64_t count)
{
	struct history_count e;
	uint64_t key;

	if (!file || !count)
		return;
	key = segment_node_at(s, node).key;
	e = entry_of(r, file, key, count);
	if (r->each)
		tally_add(&r->tally, e);
	else
		pile_add(&r->pile, &e);
	note_folded(r, key, count);
}

/* Reports the slices that are wanted one by one. */
static void report_slices(struct reading *r, const struct part *p, const uint32_t *files)
{
	const struct part_wanted wanted = wanted_of(r);
	size_t i, k;

	for (i = 0; i < segment_about(p->segment)->slices; i++) {
		const struct segment_slice *s = segment_slice_at(p->segment, i);
		struct segment_counts c;

		if (!part_wants(&wanted, s))
			continue;
		if (segment_counts(p->segment, i, &c) < 0) {
			r->damaged += s->bytes;
			continue;
		}
		begin_slice(r, &s->slice);
		for (k = 0; k < c.count; k++)
			add_node(r, p->segment, c.nodes[k], files[c.nodes[k]], c.counts[k]);
		end_slice(r, part_extent(s, p->source->level));
	}
}

int reading_part(struct reading *r, const struct part *p, struct error *err)
{
	_cleanup_free_ uint32_t *files = NULL;
	size_t i;

	if (p->status < 0)
		return error_set(err, p->status, "%s", p->err.text);
	if (!p->segment)
		return 0;
	if (!r->covers_only)
		files = find_files(r, p);
	if (r->each) {
		report_slices(r, p, files);
		return 0;
	}
	for (i = 0; i < p->counts.count; i++) {
		const struct segment_step_count *c = &p->counts.counts[i];

		r->step = c->step;
		add_node(r, p->segment, c->node, files[c->node], c->count);
	}
	for (i = 0; i < p->extent_count; i++)
		end_slice(r, p->extents[i]);
	r->damaged += p->counts.damaged;
	return 0;
}

int reading_segment(struct reading *r, const struct history_source *source, struct error *err)
{
	const struct part_wanted wanted = wanted_of(r);
	struct part p = { .source = source };
	int status;

	part_read(&p, &wanted);
	status = reading_part(r, &p, err);
	part_done(&p);
	return status;
}

/* --- several segments --- */

/* Segments that are read at the same time. */
struct batch {
	struct part *parts;
	size_t count;
	struct part_wanted wanted;
};

static void read_part(size_t i, unsigned int thread _unused_, void *data)
{
	struct batch *b = data;

	part_read(&b->parts[i], &b->wanted);
}

/* Whether a source that was taken since the batch was read has generations of this one. */
static bool is_outdated(const struct reading *r, const struct batch *b, const struct part *p)
{
	size_t i;

	for (i = b->wanted.taken_count; i < r->taken_count; i++)
		if (r->taken[i].first <= p->source->last && p->source->first <= r->taken[i].last)
			return true;
	return false;
}

/* Adds the parts of a batch, one after the other. */
static int add_batch(struct reading *r, struct batch *b,
		     int (*done)(struct reading *r, const struct history_source *source,
				 int status),
		     struct error *err)
{
	int status = 0;
	size_t i;

	for (i = 0; i < b->count && status == 0; i++) {
		struct part *p = &b->parts[i];

		if (is_outdated(r, b, p)) {
			part_done(p);
			status = reading_segment(r, p->source, err);
		} else {
			status = reading_part(r, p, err);
		}
		status = done(r, p->source, status);
	}
	return status;
}

int reading_segments(struct reading *r, const struct history_source *list, size_t count,
		     int (*done)(struct reading *r, const struct history_source *source,
				 int status),
		     struct error *err)
{
	size_t most = parallel_threads(), at = 0, i;
	_cleanup_free_ struct part *parts = xcalloc(most, sizeof(*parts));
	int status = 0;

	while (at < count && status == 0) {
		struct batch b = { parts, MIN(count - at, most), wanted_of(r) };

		for (i = 0; i < b.count; i++)
			parts[i] = (struct part){ .source = &list[at + i] };
		parallel_each(b.count, read_part, &b);
		status = add_batch(r, &b, done, err);
		for (i = 0; i < b.count; i++)
			part_done(&parts[i]);
		at += b.count;
	}
	return status;
}

void reading_done(struct reading *r)
{
	pile_done(&r->pile);
	tally_done(&r->tally);
	map_done(&r->by_name);
	map_done(&r->by_text);
	free(r->unparsed);
	while (r->text_count)
		free(r->texts[--r->text_count]);
	free(r->texts);
	arena_done(&r->text);
	file_names_done(&r->names);
	free(r->numbers);
	free(r->lines);
	free(r->keyless);
	free(r->extents);
	free(r->taken);
}
