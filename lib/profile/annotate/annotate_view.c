/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/annotate.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "profile/annotate/internal/annotate_calls.h"
#include "profile/select/by_image.h"
#include "profile/select/file_counts.h"
#include "symbol/symtab.h"

#include <stdlib.h>
#include <string.h>

/* --- samples --- */

static void read_file(struct annotate *a, const struct gather_file *f, uint32_t class,
		      struct annotate_image *image)
{
	_cleanup_(file_counts_closep) struct file_counts *counts = NULL;
	struct error err = ERROR_INIT;
	uint64_t sum;

	if (file_counts_open(f, &counts, &err) < 0) {
		a->bad++;
		log_warn("%s; file skipped", err.text);
		return;
	}
	if (a->read++ == 0)
		a->report.header = *file_counts_header(counts);
	if (image->header.version == 0)
		image->header = *file_counts_header(counts);
	sum = file_counts_read(counts, class, &image->samples);
	image->counts[class] += sum;
	image->sum += sum;
	a->totals.totals[class] += sum;
}

/* Most samples first, then by name: numbers of images differ between a session and its archive. */
static int compare_images(const void *pa, const void *pb, void *data)
{
	const struct annotate_image *a = pa, *b = pb;
	const struct gather *g = data;
	int r;

	if (a->sum != b->sum)
		return (a->sum < b->sum) - (a->sum > b->sum);
	r = strcmp(g->images[a->image].display, g->images[b->image].display);
	return r ? r : (a->image > b->image) - (a->image < b->image);
}

/* Makes room for totals: for own samples, and for what is called. */
static void init_totals(struct annotate *a, const struct classes *c)
{
	if (!a->config->calls) {
		container_init_classes(&a->totals, c);
		return;
	}
	container_init(&a->totals, ANNOTATE_WITH_CALLS + 1);
	a->totals.events[ANNOTATE_WITH_CALLS] = 1; /* a threshold is for each */
}

void annotate_collect(const struct gather *g, const struct classes *c, const struct by_image *inv,
		      const struct annotate_config *config, struct annotate *ret)
{
	size_t i, j;

	*ret = (struct annotate){ .config = config, .own_count = c->count };
	init_totals(ret, c);
	ret->report = (struct report){ .gather = g, .classes = c };
	ret->images = xcalloc(inv->image_count + 1, sizeof(*ret->images));
	for (i = 0; i < inv->image_count; i++) {
		const struct by_image_files *from = &inv->images[i];
		struct annotate_image *image = &ret->images[ret->image_count++];

		*image = (struct annotate_image){ .image = from->image };
		image->counts = annotate_counts(ret);
		for (j = from->first; j < from->first + from->count; j++) {
			const struct gather_file *f = &g->files[inv->files[j]];

			if (!config->exclude_dependent || f->app == f->image)
				read_file(ret, f, c->of_file[inv->files[j]], image);
		}
		samples_sort(&image->samples);
	}
	if (config->calls) {
		ret->totals.totals[ANNOTATE_WITH_CALLS] = ret->totals.totals[0];
		annotate_calls_prepare(ret);
	}
	qsort_r(ret->images, ret->image_count, sizeof(*ret->images), compare_images, (void *)g);
	while (ret->image_count && ret->images[ret->image_count - 1].sum == 0 &&
	       !(config->calls && ret->images[ret->image_count - 1].samples.count))
		samples_done(&ret->images[--ret->image_count].samples);
}

/* --- symbols --- */

/* Whether the symbol is chosen, or nothing was. */
static bool is_chosen(const struct annotate *a, uint32_t image, uint32_t first)
{
	size_t i;

	for (i = 0; i < a->chosen_count; i++)
		if (a->chosen[i].image == image && a->chosen[i].first == first)
			return true;
	return !a->chosen;
}

/* Whether any symbol of the image is chosen, or nothing was. */
static bool has_chosen(const struct annotate *a, uint32_t image)
{
	size_t i;

	for (i = 0; i < a->chosen_count; i++)
		if (a->chosen[i].image == image)
			return true;
	return !a->chosen;
}

/* State while the symbols of a view are listed. */
struct making {
	struct annotate *a;
	struct annotate_view *view;
	uint32_t
		*symbol_of; /* by index of a whole symbol in the table: its index in the view + 1 */
	size_t room;
};

static const char *text_of(struct annotate *a, const char *name)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	bool styled = name_style_add(&a->config->names, &text, name);

	return arena_strdup(&a->totals.arena, styled ? strbuf_text(&text) : name);
}

/* The index in the view of the symbol that piece number @piece of the table belongs to. */
static uint32_t symbol_at(struct making *m, size_t piece)
{
	const struct symtab *st = m->view->binary.symtab;
	uint32_t whole = symtab_at(st, piece)->whole;
	struct annotate_view *v = m->view;
	struct annotate_symbol *added;

	if (m->symbol_of[whole]) {
		added = &v->symbols[m->symbol_of[whole] - 1];
	} else {
		array_grow(&v->symbols, v->symbol_count + 1, &m->room);
		added = &v->symbols[v->symbol_count++];
		*added = (struct annotate_symbol){ .symbol = symtab_at(st, whole),
						   .first = whole,
						   .counts = annotate_counts(m->a) };
		added->text = text_of(m->a, added->symbol->name);
		added->is_wanted =
			symbol_filter_wants(&m->a->config->symbols, added->symbol->name,
					    m->a->report.gather->images[v->image->image].display) &&
			is_chosen(m->a, v->image->image, whole);
		m->symbol_of[whole] = (uint32_t)v->symbol_count;
	}
	return m->symbol_of[whole] - 1;
}

/* Finds the last piece of each symbol: they are after the first one in the table. */
static void find_last_pieces(struct making *m)
{
	const struct symtab *st = m->view->binary.symtab;
	size_t i, n = symtab_count(st);

	for (i = 0; i < n; i++) {
		uint32_t known = m->symbol_of[symtab_at(st, i)->whole];

		if (known)
			m->view->symbols[known - 1].last = (uint32_t)i;
	}
}

/* Merges the sorted samples with the sorted symbols. */
static void find_symbols(struct making *m, uint64_t *unnamed)
{
	const struct samples *s = &m->view->image->samples;
	const struct symtab *st = m->view->binary.symtab;
	size_t i, at = 0, n = symtab_count(st);

	for (i = 0; i < s->count; i++) {
		const struct sample *sample = &s->samples[i];
		const struct symbol *sym;

		at = symtab_seek(st, at, sample->offset);
		sym = at < n ? symtab_at(st, at) : NULL;
		if (!sym || sym->offset > sample->offset) {
			m->view->of_sample[i] = ANNOTATE_NONE;
			unnamed[sample->class] += sample->count;
			continue;
		}
		m->view->of_sample[i] = symbol_at(m, at);
		m->view->symbols[m->view->of_sample[i]].counts[sample->class] += sample->count;
	}
}

static void add_unwanted(struct annotate *a, const struct annotate_view *v)
{
	size_t i;

	for (i = 0; i < v->symbol_count; i++)
		if (!v->symbols[i].is_wanted)
			annotate_add_rest(a, ANNOTATE_NONE, annotate_not_selected,
					  v->symbols[i].counts);
}

/* Moves the samples in code that @b has. */
static void move_samples(struct annotate_image *from, const struct binary *b,
			 struct annotate_image *to)
{
	struct samples *s = &from->samples;
	size_t i, n = 0;

	for (i = 0; i < s->count; i++) {
		const struct sample *at = &s->samples[i];

		if (!binary_has_code(b, at->offset)) {
			s->samples[n++] = *at;
			continue;
		}
		array_grow(&to->samples.samples, to->samples.count + 1, &to->samples.room);
		to->samples.samples[to->samples.count++] = *at;
		from->counts[at->class] -= at->count;
		to->counts[at->class] += at->count;
		from->sum -= at->count;
		to->sum += at->count;
	}
	s->count = n;
}

/* Takes over the samples that later images, of other archives, have in code of the image. */
static void take_same(struct annotate *a, size_t i, const struct binary *b)
{
	const struct gather *g = a->report.gather;
	const size_t had = a->images[i].samples.count;
	size_t k;

	for (k = i + 1; k < a->image_count && g->has_archives; k++)
		if (annotate_takes(a, &a->images[i], k))
			move_samples(&a->images[k], b, &a->images[i]);
	if (a->images[i].samples.count > had)
		samples_sort(&a->images[i].samples);
}

void annotate_open(struct annotate *a, size_t i, struct binaries *bs, struct annotate_view *ret)
{
	const struct annotate_image *image = &a->images[i];
	struct annotate_view view = { .image = image };
	struct making m = { .a = a, .view = &view };
	uint64_t *unnamed = annotate_counts(a);

	if (!has_chosen(a, image->image)) {
		annotate_add_rest(a, ANNOTATE_NONE, annotate_not_selected, image->counts);
		*ret = view;
		return;
	}
	binary_open(bs, image->image, &image->header, &view.binary);
	if (!view.binary.symtab) {
		annotate_add_rest(a, image->image,
				  row_kind_text(row_kind_without_symbols(view.binary.why)),
				  image->counts);
		*ret = view;
		return;
	}
	take_same(a, i, &view.binary);
	view.of_sample = xcalloc(image->samples.count + 1, sizeof(*view.of_sample));
	m.symbol_of = xcalloc(symtab_count(view.binary.symtab) + 1, sizeof(*m.symbol_of));
	find_symbols(&m, unnamed);
	find_last_pieces(&m);
	free(m.symbol_of);
	annotate_add_rest(a, image->image, row_kind_text(ROW_UNNAMED), unnamed);
	add_unwanted(a, &view);
	if (a->config->calls)
		annotate_calls_symbols(a, &view);
	*ret = view;
}
