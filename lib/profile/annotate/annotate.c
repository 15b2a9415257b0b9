/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/annotate.h"

#include "base/mem.h"
#include "symbol/symtab.h"
#include "profile/select/programs.h"
#include "sfile/manifest.h"
#include "sfile/source_image.h"

#include <string.h>

uint64_t *annotate_counts(struct annotate *a)
{
	size_t size = a->totals.class_count * sizeof(uint64_t);

	return memset(arena_alloc(&a->totals.arena, size), 0, size);
}

uint64_t annotate_sum(const struct annotate *a, const uint64_t *counts)
{
	return container_sum(counts, a->own_count);
}

void annotate_done(struct annotate *a)
{
	size_t i;

	for (i = 0; i < a->image_count; i++)
		samples_done(&a->images[i].samples);
	free(a->images);
	free(a->rest);
	chain_keys_done(&a->selected);
	free(a->chosen);
	container_done(&a->totals);
	*a = (struct annotate){ 0 };
}

void annotate_add_rest(struct annotate *a, uint32_t image, const char *why, const uint64_t *counts)
{
	size_t i, j;

	if (!annotate_sum(a, counts)) /* what only calls has no samples to miss */
		return;
	for (i = 0; i < a->rest_count; i++)
		if (a->rest[i].image == image && !strcmp(a->rest[i].why, why))
			break;
	if (i == a->rest_count) {
		array_grow(&a->rest, a->rest_count + 1, &a->rest_room);
		a->rest[a->rest_count++] = (struct annotate_rest){ image, why, annotate_counts(a) };
	}
	for (j = 0; j < a->totals.class_count; j++)
		a->rest[i].counts[j] += counts[j];
}

void annotate_give_up(struct annotate *a, const struct annotate_view *v, const char *why)
{
	size_t i;

	for (i = 0; i < v->symbol_count; i++)
		if (v->symbols[i].is_wanted)
			annotate_add_rest(a, v->image->image, why, v->symbols[i].counts);
}

bool annotate_reaches(const struct annotate *a, const uint64_t *counts)
{
	struct row row = { .counts = (uint64_t *)counts };

	return container_reaches(&a->totals, &row, a->config->threshold);
}

uint64_t annotate_called(const struct annotate *a)
{
	uint64_t sum = 0;

	if (a->config->calls)
		chain_calls_sum(a->config->calls, &a->selected, &sum);
	return sum;
}

const char annotate_not_selected[] = "in symbols that were not selected";

/* Whether two images are one file, with its code at the same offsets. A kernel can be at other
 * addresses in each archive. */
static bool is_same_code(const struct gather *g, const struct annotate_image *a,
			 const struct annotate_image *b)
{
	const struct manifest_image *m = g->images[a->image].manifest;

	return programs_same(g, a->image) == programs_same(g, b->image) && m &&
	       m->version.build_id.size && !source_image_is(m) && !a->header.is_kernel;
}

bool annotate_takes(const struct annotate *a, const struct annotate_image *by, size_t i)
{
	const struct gather *g = a->report.gather;

	return &a->images[i] == by ||
	       (g->has_archives && &a->images[i] > by && is_same_code(g, by, &a->images[i]));
}

void annotate_close(struct annotate_view *v)
{
	free(v->symbols);
	free(v->of_sample);
	binary_close(&v->binary);
	*v = (struct annotate_view){ 0 };
}

uint64_t annotate_address(const struct annotate_view *v, size_t i)
{
	const struct symbol *sym = v->symbols[v->of_sample[i]].symbol;

	return sym->address + (v->image->samples.samples[i].offset - sym->offset);
}

/* Whether one of the symbol's pieces has the address. */
static bool contains(const struct annotate_view *v, const struct annotate_symbol *sym,
		     uint64_t address)
{
	uint32_t i;

	for (i = sym->first; i <= sym->last; i++) {
		const struct symbol *piece = symtab_at(v->binary.symtab, i);

		if (piece->whole == sym->first && address >= piece->address &&
		    address - piece->address < piece->end - piece->offset)
			return true;
	}
	return false;
}

const struct annotate_symbol *annotate_symbol_at(const struct annotate_view *v, uint64_t address)
{
	size_t i;

	for (i = 0; i < v->symbol_count; i++)
		if (v->symbols[i].symbol->address == address)
			return &v->symbols[i];
	for (i = 0; i < v->symbol_count; i++)
		if (contains(v, &v->symbols[i], address))
			return &v->symbols[i];
	return NULL;
}
