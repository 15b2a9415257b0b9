/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/populate.h"

#include "base/log.h"
#include "base/mem.h"
#include "history/history.h"
#include "elf/elffile.h"
#include "symbol/symtab.h"
#include "profile/binary/binary.h"
#include "profile/select/classes.h"
#include "profile/rows/line_choice.h"
#include "profile/rows/row_detail.h"
#include "profile/rows/internal/placer.h"
#include "profile/select/gather.h"
#include "profile/rows/internal/inline_rows.h"
#include "profile/select/by_image.h"
#include "profile/select/programs.h"
#include "profile/select/file_prefetch.h"
#include "profile/select/samples.h"
#include "profile/select/symfilter.h"
#include "sfile/source_image.h"

#include <string.h>

/* Samples that are sorted together: they fit into the cache, and memory does not grow with the
 * session. */
enum { PORTION = 64 << 10 };

struct populate {
	struct populate_job *job;
	struct samples samples;	    /* of one image and application */
	struct file_prefetch files; /* in the order of ->job->by_image */
};

/* A symbol that has a row: its name in the container, shared by the rows of all applications, and
 * the latest of these. */
struct named {
	struct row_symbol *symbol;
	size_t row;
};

/* Whether a symbol has a row. */
enum verdict { VERDICT_UNKNOWN, VERDICT_NO, VERDICT_YES };

/* The image whose samples are being converted to rows. */
struct current {
	uint32_t image, app;
	size_t first;		    /* rows from here on are of this image and application */
	size_t unnamed;		    /* their row for code between symbols, or SIZE_MAX */
	size_t rare;		    /* and for what is rare */
	struct sfile_header header; /* of its first file */
	bool is_open;
	struct binary binary;
	struct named *named;	     /* one per symbol of the binary */
	uint8_t *verdicts;	     /* the same, if not all have rows: enum verdict */
	struct placer *placer;	     /* NULL: lines are not requested, or there are none */
	struct inline_rows *inlined; /* NULL: inlined functions have no rows */
};

static uint32_t app_of(const struct populate *p, uint32_t file)
{
	const struct populate_config *c = p->job->config;
	const struct gather *g = p->job->gather;
	const struct gather_file *f = &g->files[file];
	bool is_kept = c->by_interpreter && source_image_is(g->images[f->image].manifest);

	return c->merge_lib && !is_kept ? GATHER_NONE : f->app;
}

static bool is_wanted(const struct populate *p, const struct gather_file *f)
{
	return !p->job->config->exclude_dependent || f->app == f->image;
}

static struct row *add_row(struct populate *p, const struct current *cur, enum row_kind kind)
{
	return container_add_row(
		p->job->out, &(struct row){ .image = cur->image, .app = cur->app, .kind = kind });
}

/* The row of @sym: a new one, or that of an earlier piece of it. */
static struct row *symbol_row(struct populate *p, struct current *cur, const struct symbol *sym)
{
	struct named *named = &cur->named[sym->whole];
	struct row *row;

	if (named->symbol && named->row >= cur->first)
		return &p->job->out->rows[named->row];
	if (!named->symbol)
		named->symbol = container_symbol(p->job->out, sym->name);
	named->row = p->job->out->count;
	row = add_row(p, cur, ROW_SYMBOL);
	row->symbol = named->symbol;
	row->symbol_index = sym->whole;
	row->address = sym->address;
	row->is_go = sym->rank & SYMBOL_GO;
	if ((p->job->config->lines || p->job->config->line) && cur->placer)
		row->place = placer_start(cur->placer, sym->address);
	return row;
}

/* Counts the samples from @at up to the offset @last; returns the first one after it. */
static const struct sample *count_up_to(struct row *row, const struct sample *at,
					const struct sample *end, uint64_t last)
{
	for (; at < end && at->offset <= last; at++)
		row->counts[at->class] += at->count;
	return at;
}

/* The linked address of code in no symbol: as far from its offset as that of the next symbol
 * (number @next), or of the last one. */
static uint64_t address_between(const struct current *cur, uint64_t offset, size_t next)
{
	const struct symtab *st = cur->binary.symtab;
	const struct symbol *near = symtab_at(st, MIN(next, symtab_count(st) - 1));

	return offset + (near->address - near->offset);
}

/* Counts the samples from @at up to the offset @last in the row @index and, if requested, keeps
 * them; @address is that of the first one. Returns the first sample after it. */
static const struct sample *take_up_to(struct populate *p, struct current *cur, size_t index,
				       const struct sample *at, uint64_t last, uint64_t address)
{
	const struct sample *end = p->samples.samples + p->samples.count;
	struct row *row = &p->job->out->rows[index];
	const struct sample *next = count_up_to(row, at, end, last);

	if (p->job->config->details || p->job->config->line)
		detail_keep(p->job->out, row, at, (size_t)(next - at), address - at->offset,
			    p->job->config->lines || p->job->config->line ? cur->placer : NULL);
	return next;
}

/* The number of the row of an inlined call in @sym: a new one, or that of code with samples
 * before. */
static size_t inlined_row(struct populate *p, struct current *cur, struct inline_rows_call *call,
			  const struct symbol *sym)
{
	struct row *row;

	if (call->row != UINT32_MAX && call->row >= cur->first)
		return call->row;
	call->row = (uint32_t)p->job->out->count;
	row = add_row(p, cur, ROW_SYMBOL);
	row->symbol = call->symbol;
	row->symbol_index = UINT32_MAX;
	row->address = call->address;
	row->place = call->place;
	row->is_inlined = true;
	row->is_go = sym->rank & SYMBOL_GO;
	return call->row;
}

/* The number of the row of the code at @address, in @sym. */
static size_t row_at(struct populate *p, struct current *cur, const struct symbol *sym,
		     uint64_t address)
{
	struct inline_rows_call *const *calls;

	if (cur->inlined && inline_rows_find(cur->inlined, address, &calls))
		return inlined_row(p, cur, calls[0], sym);
	return (size_t)(symbol_row(p, cur, sym) - p->job->out->rows);
}

/* Whether the symbol with this name, or the code without one (NULL), has a row. */
static bool has_row(const struct populate *p, const struct current *cur, const char *name)
{
	const struct symbol_filter *only = p->job->config->only;
	const struct gather *g = p->job->gather;
	uint32_t image = p->job->config->regions ? cur->image : programs_shown(g, cur->image);
	_cleanup_free_ char *plain = only && name ? container_plain_name(name) : NULL;

	if (p->job->config->line)
		return name;
	return !only || symbol_filter_wants(only, plain, g->images[image].display);
}

/* The same, which is decided once for all applications. */
static bool symbol_has_row(const struct populate *p, struct current *cur, const struct symbol *sym)
{
	uint8_t *verdict;

	if (!cur->verdicts)
		return true;
	verdict = &cur->verdicts[sym->whole];
	if (*verdict == VERDICT_UNKNOWN)
		*verdict = has_row(p, cur, sym->name) ? VERDICT_YES : VERDICT_NO;
	return *verdict == VERDICT_YES;
}

/* The first sample after the offset @last. */
static const struct sample *skip_to(const struct populate *p, const struct sample *at,
				    uint64_t last)
{
	const struct sample *end = p->samples.samples + p->samples.count;

	while (at < end && at->offset <= last)
		at++;
	return at;
}

/* Takes the samples from @at on that are in @sym; returns the first that is not. */
static const struct sample *take_symbol(struct populate *p, struct current *cur,
					const struct symbol *sym, const struct sample *at)
{
	const struct sample *end = p->samples.samples + p->samples.count;
	const struct line_choice *line = p->job->config->line;
	uint64_t shift = sym->address - sym->offset;

	if ((line && !cur->placer) || !symbol_has_row(p, cur, sym))
		return skip_to(p, at, sym->end - 1);
	if (!cur->inlined && !line)
		return take_up_to(p, cur, row_at(p, cur, sym, 0), at, sym->end - 1,
				  at->offset + shift);
	while (at < end && at->offset < sym->end)
		if (line &&
		    !line_choice_has(line, placer_find(cur->placer, at->offset + shift).file))
			at = skip_to(p, at, at->offset);
		else
			at = take_up_to(p, cur, row_at(p, cur, sym, at->offset + shift), at,
					at->offset, at->offset + shift);
	return at;
}

/* Merges the sorted samples with the sorted symbols in one pass over both. */
static void merge_symbols(struct populate *p, struct current *cur)
{
	const struct symtab *st = cur->binary.symtab;
	const struct sample *at = p->samples.samples, *end = at + p->samples.count;
	size_t n = symtab_count(st), i = 0;

	while (at < end) {
		const struct symbol *sym;
		uint64_t last;

		i = symtab_seek(st, i, at->offset);
		sym = i < n ? symtab_at(st, i) : NULL;
		if (sym && sym->offset <= at->offset) {
			at = take_symbol(p, cur, sym, at);
			continue;
		}
		last = sym ? sym->offset - 1 : UINT64_MAX;
		if (!has_row(p, cur, NULL)) {
			at = skip_to(p, at, last);
			continue;
		}
		if (cur->unnamed == SIZE_MAX) {
			cur->unnamed = p->job->out->count;
			(void)add_row(p, cur, ROW_UNNAMED);
		}
		at = take_up_to(p, cur, cur->unnamed, at, last,
				address_between(cur, at->offset, i));
	}
}

/* Sets the size and code of the symbols with rows. */
static void measure_symbols(struct current *cur)
{
	const struct symtab *st = cur->binary.symtab;
	bool in_file = cur->binary.file && !cur->header.is_kernel;
	size_t i, n = symtab_count(st);

	for (i = 0; i < n; i++) {
		const struct symbol *piece = symtab_at(st, i), *sym = symtab_at(st, piece->whole);
		struct row_symbol *named = cur->named[piece->whole].symbol;

		if (!named)
			continue;
		named->size = piece->end - sym->offset;
		if (in_file)
			named->code = elffile_bytes(cur->binary.file, sym->offset, named->size);
	}
}

static void open_binary(struct populate *p, struct current *cur)
{
	if (cur->is_open)
		return;
	cur->is_open = true;
	binary_open(p->job->binaries, cur->image, &cur->header, &cur->binary);
	if (cur->binary.symtab)
		cur->named = xcalloc(symtab_count(cur->binary.symtab), sizeof(*cur->named));
	if (cur->binary.symtab && p->job->config->only)
		cur->verdicts = xcalloc(symtab_count(cur->binary.symtab), sizeof(*cur->verdicts));
	if (p->job->config->lines || p->job->config->inlines || p->job->config->line)
		cur->placer = placer_open(p->job->out, p->job->binaries, cur->image, &cur->binary,
					  p->job->config->line);
	/* The function of a line is the one that it is written in, wherever it was inlined. */
	if ((p->job->config->inlines || p->job->config->line) && cur->placer)
		cur->inlined = inline_rows_new(p->job->out, placer_lines(cur->placer),
					       p->job->config->lines);
}

/* Moves the samples without an offset, which are the last ones, to a row of their own. */
static void take_rare(struct populate *p, struct current *cur)
{
	struct samples *s = &p->samples;
	const struct sample *end = s->samples + s->count, *first;
	struct row *row;

	while (s->count && s->samples[s->count - 1].offset == SAMPLE_RARE)
		s->count--;
	first = s->samples + s->count;
	if (first == end || !has_row(p, cur, NULL))
		return;
	if (cur->rare == SIZE_MAX) {
		cur->rare = p->job->out->count;
		(void)add_row(p, cur, ROW_RARE);
	}
	row = &p->job->out->rows[cur->rare];
	(void)count_up_to(row, first, end, SAMPLE_RARE);
	if (p->job->config->details)
		detail_keep(p->job->out, row, first, (size_t)(end - first), 0, NULL);
}

/* Makes rows from the samples read so far, if there are symbols. Rows with details need all samples
 * at once. */
static void take_samples(struct populate *p, struct current *cur)
{
	open_binary(p, cur);
	samples_sort(&p->samples);
	take_rare(p, cur);
	if (p->job->config->details)
		samples_trim(&p->samples); /* copies of all of them follow */
	if (cur->binary.symtab)
		merge_symbols(p, cur);
	else if (p->job->config->details)
		return;
	samples_clear(&p->samples);
}

/* Adds the samples from number @first on to the sums of their classes. */
static void add_sums(const struct samples *s, size_t first, uint64_t *sums)
{
	size_t i;

	for (i = first; i < s->count; i++)
		sums[s->samples[i].class] += s->samples[i].count;
}

/* Reads the samples of a file, and makes rows from them whenever there are enough. */
static void read_samples(struct populate *p, struct current *cur, struct file_counts *counts,
			 uint32_t class, uint64_t *sums)
{
	size_t most = p->job->config->details ? SIZE_MAX : PORTION, at = 0;
	bool is_more = true;

	while (is_more) {
		size_t first = p->samples.count;

		is_more = file_counts_read_some(counts, class, &p->samples, &at, most);
		add_sums(&p->samples, first, sums);
		if (is_more)
			take_samples(p, cur);
	}
}

/* Reads file number @i into the samples, or, for the summary, only their sum; adds to @sums, by
 * class. */
static void read_file(struct populate *p, size_t i, struct current *cur, uint64_t *sums)
{
	_cleanup_(file_counts_closep) struct file_counts *counts = NULL;
	const struct populate_config *config = p->job->config;
	uint32_t class = p->job->classes->of_file[p->job->by_image->files[i]];
	struct error err = ERROR_INIT;

	if (file_prefetch_take(&p->files, i, &counts, &err) < 0) {
		p->job->stats.bad++;
		gather_warn_file(p->job->gather, &err, &p->job->stats.is_gone);
		return;
	}
	if (p->job->stats.read++ == 0)
		p->job->stats.header = *file_counts_header(counts);
	if (cur->header.version == 0)
		cur->header = *file_counts_header(counts);
	if (!config->details && !config->inlines && !config->line)
		file_counts_at_functions(counts);
	if (config->symbols)
		read_samples(p, cur, counts, class, sums);
	else
		file_counts_add_sums(counts, class, sums);
}

static bool is_any(const uint64_t *sums, size_t count)
{
	size_t i = 0;

	while (i < count && !sums[i])
		i++;
	return i < count;
}

/* Makes the one row of an image and application without symbols, or if symbols are not
 * requested. */
static void add_whole(struct populate *p, struct current *cur, uint64_t *sums)
{
	struct row *row;
	size_t i;

	for (i = 0; cur->rare != SIZE_MAX && i < p->job->classes->count; i++)
		sums[i] -= p->job->out->rows[cur->rare].counts[i];
	if (!is_any(sums, p->job->classes->count) || !has_row(p, cur, NULL))
		return;
	row = add_row(p, cur,
		      p->job->config->symbols ? row_kind_without_symbols(cur->binary.why)
					      : ROW_IMAGE);
	memcpy(row->counts, sums, p->job->classes->count * sizeof(*sums));
	if (p->job->config->details)
		detail_keep(p->job->out, row, p->samples.samples, p->samples.count, 0, NULL);
}

/* Reads the files of one application from index @i on; returns the index after them. */
static size_t populate_app(struct populate *p, struct current *cur, size_t i, size_t end)
{
	_cleanup_free_ uint64_t *sums = xcalloc(p->job->classes->count, sizeof(*sums));
	const uint32_t *files = p->job->by_image->files;
	size_t class;

	cur->app = app_of(p, files[i]);
	cur->first = p->job->out->count;
	cur->unnamed = cur->rare = SIZE_MAX;
	samples_clear(&p->samples);
	for (; i < end && app_of(p, files[i]) == cur->app; i++)
		if (is_wanted(p, &p->job->gather->files[files[i]]))
			read_file(p, i, cur, sums);
	for (class = 0; class < p->job->classes->count; class ++)
		p->job->out->totals[class] += sums[class];
	if (!is_any(sums, p->job->classes->count))
		return i;
	if (p->job->config->symbols)
		take_samples(p, cur);
	if (!cur->binary.symtab)
		add_whole(p, cur, sums);
	return i;
}

/* Adds up the samples of @image if it stands for files that get no rows; returns whether so. */
static bool take_rest(struct populate *p, const struct by_image_files *image)
{
	const struct gather *g = p->job->gather;
	struct container *out = p->job->out;
	const uint32_t *files = p->job->by_image->files + image->first;
	size_t i;

	if (!g->files[*files].is_rest)
		return false;
	for (i = 0; i < image->count; i++) {
		const struct gather_file *f = &g->files[files[i]];
		const uint32_t class = p->job->classes->of_file[files[i]];
		size_t k;

		for (k = 0; k < f->past->count; k++) {
			out->totals[class] += f->past->counts[k].count;
			out->beyond[class] += f->past->counts[k].count;
		}
	}
	out->beyond_images = history_covers(g->sessions[g->files[*files].session].history)->rest;
	return true;
}

static void populate_image(struct populate *p, const struct by_image_files *image)
{
	struct current cur = { .image = image->image };
	size_t i = image->first, end = image->first + image->count;

	while (i < end)
		i = populate_app(p, &cur, i, end);
	inline_rows_free(cur.inlined);
	placer_free(cur.placer);
	if (p->job->config->code && cur.binary.symtab)
		measure_symbols(&cur);
	if (cur.is_open)
		binary_close(&cur.binary);
	free(cur.named);
	free(cur.verdicts);
}

void populate_images(struct populate_job *job)
{
	const struct by_image *all = job->by_image;
	struct populate p = {
		.job = job,
		.samples = SAMPLES_INIT,
		.files = { .gather = job->gather, .order = all->files, .count = all->file_count },
	};
	size_t i;

	for (i = 0; i < all->image_count; i++) {
		if (job->config->step)
			job->config->step(job->config->step_data, i, all->image_count);
		if (!take_rest(&p, &all->images[i]))
			populate_image(&p, &all->images[i]);
	}
	if (job->config->step)
		job->config->step(job->config->step_data, i, i);
	file_prefetch_done(&p.files);
	samples_done(&p.samples);
}
