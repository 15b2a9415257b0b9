/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/callgraph.h"

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "symbol/symtab.h"
#include "profile/select/file_counts.h"
#include "profile/binary/binary.h"
#include "profile/select/classes.h"
#include "profile/rows/chain_ends.h"
#include "profile/rows/internal/placer.h"
#include "profile/select/gather.h"
#include "profile/rows/populate.h"

#include <errno.h>
#include <string.h>

/* A symbol of an image, or its code outside all symbols. */
struct slot {
	uint32_t row;		   /* id + 1 of its row for the current application, 0: none yet */
	struct row_symbol *symbol; /* its name in the container, shared by all applications */
};

/* An image at an end of an arc. */
struct place {
	bool is_open;
	struct binary binary;
	struct slot *slots; /* one per symbol, and a last one for code in no symbol */
	size_t symbol_count;
	struct placer *placer; /* finds lines, if requested */
};

/* HISTORY_RARE as half of an arc. */
#define RARE UINT32_MAX

struct collect {
	struct populate_job *job;
	struct place *places; /* one per image of the gather */
	struct samples batch; /* arcs of one file */
	struct samples arcs;  /* of all, resolved */
	uint32_t app;	      /* the application whose files are being read */
	struct map end_rows;  /* of the application: by image and end, the id + 1 */
};

/* --- places --- */

static void open_place(struct collect *c, uint32_t image, const struct sfile_header *header)
{
	struct place *p = &c->places[image];

	if (p->is_open)
		return;
	p->is_open = true;
	binary_open(c->job->binaries, image, header, &p->binary);
	p->symbol_count = p->binary.symtab ? symtab_count(p->binary.symtab) : 0;
	p->slots = xcalloc(p->symbol_count + 2, sizeof(*p->slots));
	if (c->job->config->lines)
		p->placer = placer_open(c->job->out, c->job->binaries, image, &p->binary, false);
}

/* Rows of cut chains are in no slot. What is rare is in the last one, code in no symbol in the one
 * before. */
static struct slot *slot_of_row(const struct collect *c, const struct row *row)
{
	struct place *p = &c->places[row->image];

	if (!p->is_open || row->is_end)
		return NULL;
	if (row->kind == ROW_RARE)
		return &p->slots[p->symbol_count + 1];
	return &p->slots[row->kind == ROW_SYMBOL ? row->symbol_index : p->symbol_count];
}

/* Sets the rows of the application in the slots of open images, or clears them. */
static void load_rows(struct collect *c, const uint32_t *ids, size_t count, bool know)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct row *row = &c->job->out->rows[ids[i]];
		struct slot *slot = slot_of_row(c, row);

		if (!slot)
			continue;
		slot->row = know ? ids[i] + 1 : 0;
		slot->symbol = row->symbol;
	}
}

/* The id of the row for symbol number @index of an image, or for code in no symbol. */
static uint32_t row_of(struct collect *c, uint32_t image, size_t index)
{
	struct place *p = &c->places[image];
	struct slot *slot = &p->slots[index];
	struct row row = { .image = image, .app = c->app, .kind = ROW_UNNAMED };

	if (slot->row)
		return slot->row - 1;
	if (index < p->symbol_count) {
		const struct symbol *sym = symtab_at(p->binary.symtab, index);

		if (!slot->symbol)
			slot->symbol = container_symbol(c->job->out, sym->name);
		row.kind = ROW_SYMBOL;
		row.symbol = slot->symbol;
		row.symbol_index = (uint32_t)index;
		row.address = sym->address;
		if (p->placer)
			row.place = placer_start(p->placer, sym->address);
	} else if (index > p->symbol_count) {
		row.kind = ROW_RARE;
	} else if (!p->binary.symtab) {
		row.kind = row_kind_without_symbols(p->binary.why);
	}
	slot->row = container_add_row(c->job->out, &row)->id + 1;
	return slot->row - 1;
}

/* --- resolving --- */

static void swap_halves(struct samples *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		s->samples[i].offset = s->samples[i].offset << 32 | s->samples[i].offset >> 32;
}

/* The slot of code with an offset and a role; searches from *at on, because offsets come sorted. */
static size_t find_slot(const struct place *p, size_t *at, uint64_t offset, enum code_role role)
{
	const struct symtab *st = p->binary.symtab;
	const struct symbol *sym;

	if (offset == RARE)
		return p->symbol_count + 1;
	if (!st)
		return 0;
	offset = symtab_code_at(st, offset, role);
	*at = symtab_seek(st, *at, offset);
	sym = *at < p->symbol_count ? symtab_at(st, *at) : NULL;
	return sym && sym->offset <= offset ? sym->whole : p->symbol_count;
}

/* Sorts the batch and replaces the offsets in the upper halves, of code with @role, by row ids. */
static void resolve_upper(struct collect *c, uint32_t image, enum code_role role)
{
	struct samples *s = &c->batch;
	uint64_t last = UINT64_MAX, id = 0;
	size_t i, at = 0;

	samples_sort_upper(s);
	for (i = 0; i < s->count; i++) {
		uint64_t offset = s->samples[i].offset >> 32;

		if (offset != last) {
			last = offset;
			id = row_of(c, image, find_slot(&c->places[image], &at, offset, role));
		}
		s->samples[i].offset = id << 32 | (s->samples[i].offset & UINT32_MAX);
	}
}

/* The id of the row that takes the place of the callers where chains end early in an image. */
static uint32_t end_row(struct collect *c, uint32_t image, uint32_t end)
{
	struct container *out = c->job->out;
	uint64_t key = (uint64_t)image << 8 | end;
	uintptr_t known = (uintptr_t)map_get(&c->end_rows, key);

	if (!known) {
		struct row row = { .image = image,
				   .app = c->app,
				   .kind = ROW_SYMBOL,
				   .symbol = container_symbol(out, chain_ends[end].mark),
				   .symbol_index = UINT32_MAX,
				   .is_end = true,
				   .is_unchosen = true };

		known = (uintptr_t)container_add_row(out, &row)->id + 1;
		(void)map_set(&c->end_rows, key, (void *)known);
	}
	return (uint32_t)(known - 1);
}

/* Returns whether the chains that end in a row are complete, or not known to be cut: what the
 * kernel does for a task that has no user space any more ends there, too. */
static bool is_root(const struct collect *c, uint32_t id, const struct sfile_header *header,
		    uint32_t end)
{
	const struct row *row = &c->job->out->rows[id];

	return chain_ends_in_doubt(end) &&
	       (header->is_kernel ||
		(row->kind == ROW_SYMBOL && chain_ends_is_entry(row->symbol->name)));
}

/* Makes the row of chains that end early the caller of their outermost functions, whose ids are in
 * the lower halves. */
static void add_ends(struct collect *c, uint32_t image, uint32_t end,
		     const struct sfile_header *header)
{
	struct samples *s = &c->batch;
	uint64_t from = UINT64_MAX;
	size_t i, n = 0;

	for (i = 0; i < s->count; i++) {
		if (is_root(c, (uint32_t)s->samples[i].offset, header, end))
			continue;
		if (from == UINT64_MAX)
			from = end_row(c, image, end);
		s->samples[n] = s->samples[i];
		s->samples[n++].offset = from << 32 | (uint32_t)s->samples[i].offset;
	}
	s->count = n;
}

static void keep_batch(struct collect *c)
{
	struct samples *to = &c->arcs;

	array_grow(&to->samples, to->count + c->batch.count, &to->room);
	memcpy(to->samples + to->count, c->batch.samples, c->batch.count * sizeof(*to->samples));
	to->count += c->batch.count;
	samples_clear(&c->batch);
}

static enum code_role role_of_caller(const struct sfile_header *h)
{
	return !h->is_kernel && h->cg_to_is_kernel ? CODE_ENTERED : CODE_CALLED;
}

static void read_arcs(struct collect *c, uint32_t index)
{
	const struct gather_file *f = &c->job->gather->files[index];
	uint32_t end = f->end ? chain_ends_find(f->end) : CHAIN_END_COUNT_;
	_cleanup_(file_counts_closep) struct file_counts *counts = NULL;
	struct sfile_header header = { 0 };
	struct error err = ERROR_INIT;

	if (end == CHAIN_END_COMPLETE)
		return;
	if (file_counts_open(f, &counts, &err) == 0) {
		header = *file_counts_header(counts);
		(void)file_counts_read(counts, c->job->classes->of_file[index], &c->batch);
		if (!c->places[f->image].is_open || !c->places[f->callee].is_open)
			(void)error_set(&err, -EIO, "%s: could not be read at first", f->path);
	}
	if (err.code) {
		c->job->stats.bad++;
		log_warn("%s; skipped", err.text);
		samples_clear(&c->batch);
		return;
	}
	if (c->job->stats.read++ == 0)
		c->job->stats.header = header;
	if (c->batch.count == 0)
		return;
	swap_halves(&c->batch);
	resolve_upper(c, f->callee, file_counts_callees_enter(f) ? CODE_ENTERED : CODE_SAMPLED);
	swap_halves(&c->batch);
	if (end < CHAIN_END_COUNT_)
		add_ends(c, f->image, end, &header);
	else
		resolve_upper(c, f->image, role_of_caller(&header));
	keep_batch(c);
}

/* --- applications --- */

/* Files or rows by application: ids[first[app]] up to ids[first[app + 1]]. */
struct by_app {
	uint32_t *ids, *first;
};

static uint32_t app_slot(const struct collect *c, uint32_t app)
{
	return app == GATHER_NONE ? (uint32_t)c->job->gather->image_count : app;
}

/* Returns whether a file has selected arcs. */
static bool is_wanted(const struct collect *c, const struct gather_file *f)
{
	if (f->callee == GATHER_NONE)
		return false;
	return !c->job->config->exclude_dependent || (f->image == f->app && f->callee == f->app);
}

static uint32_t app_of_file(const struct collect *c, size_t i)
{
	const struct gather_file *f = &c->job->gather->files[i];

	if (!is_wanted(c, f))
		return (uint32_t)c->job->gather->image_count + 1;
	return app_slot(c, c->job->config->merge_lib ? GATHER_NONE : f->app);
}

static uint32_t app_of_row(const struct collect *c, size_t i)
{
	return app_slot(c, c->job->out->rows[i].app);
}

/* Sorts @count items by @app_of, which is at most the number of images + 1. */
static struct by_app sort_by_app(const struct collect *c, size_t count,
				 uint32_t (*app_of)(const struct collect *c, size_t i))
{
	size_t apps = c->job->gather->image_count + 2, i;
	struct by_app by = { xcalloc(count + 1, sizeof(*by.ids)),
			     xcalloc(apps + 2, sizeof(*by.first)) };
	uint32_t *next = by.first + 1; /* which end up shifted into place */

	for (i = 0; i < count; i++)
		next[app_of(c, i) + 1]++;
	for (i = 1; i <= apps; i++)
		next[i] += next[i - 1];
	for (i = 0; i < count; i++)
		by.ids[next[app_of(c, i)]++] = (uint32_t)i;
	return by;
}

/* Opens the images at the ends of the application's arcs. The file has only the caller's header. */
static void open_places(struct collect *c, const uint32_t *files, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct gather_file *f = &c->job->gather->files[files[i]];
		struct sfile_header header;

		if (c->places[f->image].is_open && c->places[f->callee].is_open)
			continue;
		if (file_counts_read_header(f, &header, NULL) < 0)
			continue;
		open_place(c, f->image, &header);
		header.is_kernel = header.cg_to_is_kernel;
		header.anon_start = header.cg_to_anon_start;
		header.mtime = 0;
		open_place(c, f->callee, &header);
	}
}

static void forget_new_rows(struct collect *c, size_t first)
{
	size_t i;

	for (i = first; i < c->job->out->count; i++) {
		struct slot *slot = slot_of_row(c, &c->job->out->rows[i]);

		if (slot)
			slot->row = 0;
	}
}

static void collect_app(struct collect *c, const struct by_app *files, const struct by_app *rows,
			uint32_t app)
{
	uint32_t first = files->first[app], count = files->first[app + 1] - first;
	const uint32_t *ids = rows->ids + rows->first[app];
	size_t row_count = rows->first[app + 1] - rows->first[app], before = c->job->out->count, i;

	if (count == 0)
		return;
	c->app = app == c->job->gather->image_count ? GATHER_NONE : app;
	open_places(c, files->ids + first, count);
	load_rows(c, ids, row_count, true);
	for (i = 0; i < count; i++)
		read_arcs(c, files->ids[first + i]);
	load_rows(c, ids, row_count, false);
	map_done(&c->end_rows);
	forget_new_rows(c, before);
}

void callgraph_collect(struct populate_job *job, struct callgraph *ret)
{
	const struct gather *g = job->gather;
	struct collect collect = { .job = job,
				   .places = xcalloc(g->image_count + 1, sizeof(struct place)) };
	struct by_app files = sort_by_app(&collect, g->file_count, app_of_file);
	struct by_app rows = sort_by_app(&collect, job->out->count, app_of_row);
	size_t i;

	for (i = 0; i <= g->image_count; i++)
		collect_app(&collect, &files, &rows, (uint32_t)i);
	for (i = 0; i < g->image_count; i++) {
		placer_free(collect.places[i].placer);
		binary_close(&collect.places[i].binary);
		free(collect.places[i].slots);
	}
	free(collect.places);
	free(files.ids);
	free(files.first);
	free(rows.ids);
	free(rows.first);
	samples_done(&collect.batch);
	*ret = (struct callgraph){ .class_count = job->out->class_count, .raw = collect.arcs };
}
