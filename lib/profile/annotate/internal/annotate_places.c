/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/annotate_places.h"

#include "base/mem.h"
#include "base/sequence.h"
#include "dwarf/lines.h"
#include "elf/elffile.h"
#include "file/path.h"
#include "profile/annotate/internal/annotate_votes.h"
#include "profile/annotate/internal/gone_lines.h"
#include "profile/binary/sources.h"
#include "symbol/symtab.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void annotate_places_init(struct annotate_places *s, const struct annotate_diff_side sides[2])
{
	*s = (struct annotate_places){ 0 };
	annotate_rows_init(&s->rows, sides);
	annotate_rows_init(&s->loose, sides);
	annotate_rows_init(&s->file_rows, sides);
}

static void free_side(struct annotate_places *s, unsigned int side)
{
	size_t i;

	for (i = 0; i < s->file_count[side]; i++) {
		free(s->files[side][i].found);
		free(s->files[side][i].matches);
		sourcetext_free(s->files[side][i].text);
	}
	for (i = 0; s->pair && i < s->pair->view_count[side]; i++) {
		free(s->line_of[side][i]);
		gone_lines_free(s->gone[side][i]);
		lines_free(s->tables[side][i]);
	}
	free(s->files[side]);
	free(s->lines[side]);
	free(s->line_of[side]);
	free(s->tables[side]);
	free(s->gone[side]);
	map_done(&s->file_by_path[side]);
	map_done(&s->line_by_key[side]);
}

void annotate_places_done(struct annotate_places *s)
{
	free_side(s, 0);
	free_side(s, 1);
	free(s->heads);
	line_votes_done(&s->votes);
	annotate_rows_done(&s->rows);
	annotate_rows_done(&s->loose);
	annotate_rows_done(&s->file_rows);
	*s = (struct annotate_places){ 0 };
}

/* --- reading --- */

static bool is_wanted(const struct annotate_view *v, size_t sample)
{
	return v->of_sample && v->of_sample[sample] != ANNOTATE_NONE &&
	       v->symbols[v->of_sample[sample]].is_wanted;
}

/* The line of a sample; false if it has none. The number is 0 if the line is not in the source that
 * is there. */
static bool line_at(const struct annotate_places *s, unsigned int side, size_t view, size_t sample,
		    struct lines_place *ret)
{
	const struct annotate_view *v = &s->pair->views[side][view];
	struct gone_lines *gone = s->gone[side][view];

	if (!s->tables[side][view] || !is_wanted(v, sample) ||
	    !lines_find(s->tables[side][view], annotate_address(v, sample), ret))
		return false;
	if (gone)
		ret->line = gone_lines_place(gone, ret);
	return true;
}

/* Adds the wanted samples of a view that are on no line to the rest. */
static void add_lost(struct annotate_places *s, unsigned int side, size_t view)
{
	const struct annotate_view *v = &s->pair->views[side][view];
	struct annotate *a = s->pair->sides[side].annotate;
	const struct lines *table = s->tables[side][view];
	const struct samples *samples = &v->image->samples;
	uint64_t *lost = annotate_counts(a), *missing = annotate_counts(a);
	struct lines_place at;
	size_t i, n = 0;

	for (i = 0; i < samples->count; i++) {
		struct annotate_function *f;
		bool is_missing;

		if (!is_wanted(v, i) || s->line_of[side][view][i] != ANNOTATE_NONE)
			continue;
		f = annotate_pair_function(s->pair, side, view, i);
		is_missing = line_at(s, side, view, i, &at);
		f->has_unplaced |= is_missing;
		f->has_lost |= !is_missing;
		(is_missing ? missing : lost)[samples->samples[i].class] +=
			samples->samples[i].count;
		n += !is_missing;
	}
	annotate_add_rest(a, v->image->image, "on lines that were not found in the source",
			  missing);
	if (n)
		annotate_add_rest(a, v->image->image,
				  !table ? v->binary.no_code ?: "symbols only, no file with code"
				  : lines_exist(table) ? "no source line is known"
						       : "no debug information",
				  lost);
}

/* Adds the line of a sample of @v; returns its index. */
static uint32_t add_line(struct annotate_places *s, unsigned int side,
			 const struct annotate_view *v, const struct lines_place *at)
{
	uint32_t number = annotate_files_index(s, side, at->file);
	struct annotate_file *file = &s->files[side][number];
	const uint64_t built = binary_built(&v->binary, &v->image->header);

	file->is_sampled = true;
	if (file->owner)
		file->owner = binary_owner(&v->binary);
	if (!v->binary.file)
		file->is_moved = true;
	else if (!file->built || built < file->built)
		file->built = built;
	return annotate_files_line(s, side, number, at->line);
}

/* Finds the lines of the samples of a view. */
static void read_view(struct annotate_places *s, unsigned int side, size_t view)
{
	const struct annotate_view *v = &s->pair->views[side][view];
	const struct samples *samples = &v->image->samples;
	uint32_t *line_of = xcalloc(samples->count + 1, sizeof(*line_of));
	struct lines *table = v->binary.symtab && (v->binary.file || v->binary.kept)
				      ? binary_lines(&v->binary)
				      : NULL;
	struct lines_place at;
	size_t i;

	s->line_of[side][view] = line_of;
	s->tables[side][view] = table;
	if (table && !v->binary.file)
		s->gone[side][view] = gone_lines_new(v, table, s->pair->sides[side].sources);
	for (i = 0; i < samples->count; i++) {
		line_of[i] = ANNOTATE_NONE;
		if (line_at(s, side, view, i, &at) && at.line)
			line_of[i] = add_line(s, side, v, &at);
	}
	add_lost(s, side, view);
}

static void read_side(struct annotate_places *s, unsigned int side)
{
	size_t i, n = s->pair->view_count[side];

	s->line_of[side] = xcalloc(n + 1, sizeof(*s->line_of[side]));
	s->tables[side] = xcalloc(n + 1, sizeof(struct lines *));
	s->gone[side] = xcalloc(n + 1, sizeof(struct gone_lines *));
	for (i = 0; i < n; i++)
		read_view(s, side, i);
}

/* --- files of both sides --- */

/* The only file of a side that has no partner and this last part of its path; or ANNOTATE_NONE. */
static uint32_t only_file(const struct annotate_places *s, unsigned int side, const char *base)
{
	uint32_t found = ANNOTATE_NONE, i;

	for (i = 0; i < s->file_count[side]; i++) {
		if (s->files[side][i].partner != ANNOTATE_NONE ||
		    strcmp(path_base(s->files[side][i].path), base) != 0)
			continue;
		if (found != ANNOTATE_NONE)
			return ANNOTATE_NONE;
		found = i;
	}
	return found;
}

/* Pairs files of the same path, then those with a last part that only one on each side has. */
static void match_files(struct annotate_places *s)
{
	uint32_t i, other;

	for (i = 0; i < s->file_count[0]; i++) {
		const char *path = s->files[0][i].path;
		uintptr_t number;

		map_for_each_of(&s->file_by_path[1], hash_bytes(path, strlen(path)), number)
		{
			if (strcmp(s->files[1][number - 1].path, path) != 0)
				continue;
			annotate_files_pair(s, i, (uint32_t)(number - 1));
			break;
		}
	}
	for (i = 0; i < s->file_count[0]; i++) {
		const char *base = path_base(s->files[0][i].path);

		other = only_file(s, 1, base);
		if (other != ANNOTATE_NONE && only_file(s, 0, base) == i)
			annotate_files_pair(s, i, other);
	}
}

/* --- texts --- */

static void open_text(const struct annotate_places *s, unsigned int side, struct annotate_file *f)
{
	const char *line;
	size_t size;

	f->found = sources_find(s->pair->sides[side].sources, f->path);
	f->text = f->found ? sourcetext_open(f->found, f->owner) : NULL;
	while (f->text && sourcetext_line(f->text, f->line_count + 1, &line, &size))
		f->line_count++;
}

static bool is_one_file(const char *a, const char *b)
{
	struct stat st, other;

	return stat(a, &st) == 0 && stat(b, &other) == 0 && st.st_dev == other.st_dev &&
	       st.st_ino == other.st_ino;
}

/* Whether the source is, by its time, that of all binaries that are there. */
static bool is_as_built(const struct annotate_file *f)
{
	struct stat st;

	return !f->built ||
	       (stat(f->found, &st) == 0 && st.st_mtime >= 0 && (uint64_t)st.st_mtime <= f->built);
}

static struct sequence lines_of(const struct annotate_file *f)
{
	uint64_t *hashes = xcalloc(f->line_count + 1, sizeof(*hashes));
	const char *line;
	size_t i, size;

	for (i = 0; i < f->line_count && sourcetext_line(f->text, i + 1, &line, &size); i++)
		hashes[i] = source_line_hash(line, size);
	return (struct sequence){ hashes, f->line_count };
}

/* Opens the texts of a pair; matches them if they are two files. */
static void open_texts(struct annotate_places *s, struct annotate_file *first,
		       struct annotate_file *second)
{
	struct sequence a, b;

	first->is_sampled |= second->is_sampled;
	second->is_sampled |= first->is_sampled;
	if (!first->is_sampled)
		return;
	open_text(s, 0, first);
	open_text(s, 1, second);
	if (second->text) /* the first may be of an older build */
		(void)sources_compare(s->pair->sides[1].sources, second->found, second->built);
	if (!first->text || !second->text || (!first->is_rebuilt && !second->is_rebuilt))
		return;
	if (is_one_file(first->found, second->found)) {
		first->is_renumbered = (first->is_moved || second->is_moved) &&
				       is_as_built(first) && is_as_built(second);
		return;
	}
	a = lines_of(first);
	b = lines_of(second);
	first->matches = sequence_match(a, b);
	free((void *)a.elements);
	free((void *)b.elements);
}

/* --- placing --- */

/* Finds the counterpart of a line of the first side. */
static void place_line(struct annotate_places *s, uint32_t index)
{
	struct annotate_line *line = &s->lines[0][index];
	const struct annotate_file *file = &s->files[0][line->file];
	unsigned int to;
	uint32_t other;

	if (file->partner == ANNOTATE_NONE || (file->matches && line->line > file->line_count)) {
		line->is_unplaced = true;
		return;
	}
	if (file->matches && file->matches[line->line - 1] == SEQUENCE_NONE)
		return; /* the second does not have it */
	to = file->matches	   ? file->matches[line->line - 1] + 1
	     : file->is_renumbered ? line->line
				   : line_votes_find(&s->votes, line->file, line->line);
	other = to ? annotate_files_line(s, 1, file->partner, to) : ANNOTATE_NONE;
	line->is_unplaced = !to || s->lines[1][other].partner != ANNOTATE_NONE;
	if (line->is_unplaced)
		return;
	line->partner = other;
	s->lines[1][other].partner = index;
}

/* The function of the first side that corresponds to that of a sample of the second, or NULL. */
static const struct annotate_function *function_before(const struct annotate_places *s, size_t view,
						       size_t sample)
{
	uint32_t partner = annotate_pair_function(s->pair, 1, view, sample)->partner;

	return partner == ANNOTATE_NONE ? NULL : &s->pair->functions[0][partner];
}

/* Calls @work for each sample of a side that is on a line. */
static void each_sample(struct annotate_places *s, unsigned int side,
			void (*work)(struct annotate_places *s, size_t view, size_t sample,
				     struct annotate_line *line))
{
	size_t view, i;

	for (view = 0; view < s->pair->view_count[side]; view++) {
		const uint32_t *line_of = s->line_of[side][view];

		for (i = 0; i < s->pair->views[side][view].image->samples.count; i++)
			if (line_of[i] != ANNOTATE_NONE)
				work(s, view, i, &s->lines[side][line_of[i]]);
	}
}

static void note_unplaced(struct annotate_places *s, size_t view, size_t sample,
			  struct annotate_line *line)
{
	if (line->is_unplaced)
		annotate_pair_function(s->pair, 0, view, sample)->has_unplaced = true;
}

/* Finds out whether the samples that a line had before are known. Those that lost their lines may
 * have been on any line of the function; those without a place, on any that has no counterpart. */
static void note_loose(struct annotate_places *s, size_t view, size_t sample,
		       struct annotate_line *line)
{
	const struct annotate_function *before = function_before(s, view, sample);
	bool is_lost = before ? before->has_lost : annotate_pair_is_blind(s->pair, view);

	line->is_loose |=
		is_lost || (before && before->has_unplaced && line->partner == ANNOTATE_NONE);
	s->files[1][line->file].is_loose |= is_lost;
}

static const struct sample *sample_of(const struct annotate_places *s, unsigned int side,
				      size_t view, size_t sample)
{
	return &s->pair->views[side][view].image->samples.samples[sample];
}

static void add_sample(struct annotate_places *s, unsigned int side, const struct sample *sample,
		       struct annotate_line *line)
{
	struct annotate_rows *rows = line->is_loose ? &s->loose : &s->rows;
	uint32_t file = s->files[side][line->file].number;

	annotate_rows_counts(&s->file_rows, side, file)[sample->class] += sample->count;
	if (line->is_unplaced)
		return;
	if (line->number == ANNOTATE_NONE)
		line->number = annotate_rows_add(
			rows, side, &(struct row){ .app = GATHER_NONE, .kind = ROW_IMAGE });
	annotate_rows_counts(rows, side, line->number)[sample->class] += sample->count;
}

static void count_second(struct annotate_places *s, size_t view, size_t sample,
			 struct annotate_line *line)
{
	add_sample(s, 1, sample_of(s, 1, view, sample), line);
}

static void count_first(struct annotate_places *s, size_t view, size_t sample,
			struct annotate_line *line)
{
	struct annotate *a = s->pair->sides[0].annotate;
	const struct sample *of = sample_of(s, 0, view, sample);

	/* A part of the line's samples would look like all. */
	if (line->partner != ANNOTATE_NONE && s->lines[1][line->partner].is_loose)
		line->is_unplaced = true;
	add_sample(s, 0, of, line);
	if (!line->is_unplaced)
		return;
	if (!s->unplaced)
		s->unplaced = annotate_counts(a);
	s->unplaced[of->class] += of->count;
}

/* --- all --- */

/* Finds the lines on which functions of the second profile start. */
static void find_heads(struct annotate_places *s)
{
	struct lines_place at;
	uint32_t i;

	for (i = 0; i < s->pair->function_count[1]; i++) {
		const struct annotate_function *f = &s->pair->functions[1][i];
		const struct annotate_symbol *sym = annotate_pair_symbol(s->pair, 1, f);

		if (!sym || !sym->is_wanted || !s->tables[1][f->view] ||
		    !lines_start(s->tables[1][f->view], sym->symbol->address, &at))
			continue;
		if (s->gone[1][f->view])
			at.line = gone_lines_place(s->gone[1][f->view], &at);
		if (!at.line)
			continue;
		array_grow(&s->heads, s->head_count + 1, &s->head_room);
		s->heads[s->head_count++] =
			(struct annotate_head){ annotate_files_index(s, 1, at.file), at.line, i };
	}
}

static void compare(struct annotate_places *s)
{
	_cleanup_free_ uint32_t *lines = xcalloc(s->rows.added[0] + 1, sizeof(*lines));
	_cleanup_free_ uint32_t *files = xcalloc(s->file_rows.added[0] + 1, sizeof(*files));
	size_t i;

	for (i = 0; i < s->line_count[0]; i++) {
		const struct annotate_line *line = &s->lines[0][i];

		if (line->number != ANNOTATE_NONE)
			lines[line->number] = line->partner == ANNOTATE_NONE
						      ? GATHER_NONE
						      : s->lines[1][line->partner].number;
	}
	for (i = 0; i < s->file_count[0]; i++) {
		const struct annotate_file *file = &s->files[0][i];

		files[file->number] = file->partner == ANNOTATE_NONE
					      ? GATHER_NONE
					      : s->files[1][file->partner].number;
	}
	annotate_rows_settle(&s->rows, s->pair->sides);
	annotate_rows_settle(&s->loose, s->pair->sides);
	annotate_rows_settle(&s->file_rows, s->pair->sides);
	annotate_rows_compare(&s->rows, s->pair->images, lines);
	annotate_rows_compare(&s->file_rows, s->pair->images, files);
}

void annotate_places_find(struct annotate_places *s, struct annotate_pair *pair)
{
	uint32_t i;

	s->pair = pair;
	read_side(s, 0);
	read_side(s, 1);
	match_files(s);
	for (i = 0; i < s->file_count[0]; i++)
		(void)annotate_files_partner(s, 0, i);
	for (i = 0; i < s->file_count[1]; i++)
		(void)annotate_files_partner(s, 1, i);
	annotate_votes_collect(s);
	for (i = 0; i < s->file_count[0]; i++)
		if (s->files[0][i].partner != ANNOTATE_NONE)
			open_texts(s, &s->files[0][i], &s->files[1][s->files[0][i].partner]);
	line_votes_count(&s->votes);
	for (i = 0; i < s->line_count[0]; i++)
		place_line(s, i);
	each_sample(s, 0, note_unplaced);
	each_sample(s, 1, note_loose);
	each_sample(s, 1, count_second);
	each_sample(s, 0, count_first);
	if (s->unplaced)
		annotate_add_rest(pair->sides[0].annotate, ANNOTATE_NONE,
				  "on lines whose place in the second build is not known",
				  s->unplaced);
	find_heads(s);
	compare(s);
}
