/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/annotate_calls.h"

#include "base/mem.h"
#include "disasm/disasm.h"
#include "profile/select/gather.h"
#include "symbol/symtab.h"

#include <stdlib.h>

/* --- places as samples --- */

/* About where the code of a place is: which code it is only the symbols can say. */
static uint64_t rough_offset(const struct chain_calls_place *place)
{
	return place->offset - (place->role == CODE_CALLED && place->offset);
}

/* Adds the places of an image, from number @i on, as samples of no events. */
static void add_samples(const struct chain_calls *calls, size_t i, struct annotate_image *image)
{
	struct samples *s = &image->samples;
	const size_t had = s->count, n = chain_calls_count(calls);

	for (; i < n && chain_calls_place(calls, i)->image == image->image; i++) {
		array_grow(&s->samples, s->count + 1, &s->room);
		s->samples[s->count++] =
			(struct sample){ .offset = rough_offset(chain_calls_place(calls, i)),
					 .class = ANNOTATE_WITH_CALLS };
	}
	if (s->count > had)
		samples_sort(s);
}

/* Whether the image is part of the kernel, without a sample file that says it. */
static bool is_kernel(const struct gather *g, uint32_t image)
{
	return g->images[image].id.kind == SNAME_KERN || g->images[image].kernel;
}

static void add_image(struct annotate *a, uint32_t image, size_t *room)
{
	array_grow(&a->images, a->image_count + 1, room);
	a->images[a->image_count++] = (struct annotate_image){
		.image = image,
		.header = { .is_kernel = is_kernel(a->report.gather, image) },
		.counts = annotate_counts(a),
	};
}

void annotate_calls_prepare(struct annotate *a)
{
	const struct chain_calls *calls = a->config->calls;
	_cleanup_free_ bool *listed = xcalloc(a->report.gather->image_count + 1, sizeof(*listed));
	const size_t n = chain_calls_count(calls);
	size_t room = a->image_count, i;

	for (i = 0; i < a->image_count; i++)
		listed[a->images[i].image] = true;
	for (i = 0; i < n && !a->config->exclude_dependent; i++) {
		const uint32_t image = chain_calls_place(calls, i)->image;

		if (!listed[image])
			add_image(a, image, &room);
		listed[image] = true;
	}
	for (i = 0; i < a->image_count; i++)
		add_samples(calls, chain_calls_first(calls, a->images[i].image, 0), &a->images[i]);
}

/* --- places of a view --- */

/* The symbol of a view that has the code at an offset, where a place added a sample; or NULL. */
static const struct annotate_symbol *symbol_at(const struct annotate_view *v, uint64_t offset)
{
	const struct samples *s = &v->image->samples;
	size_t i = samples_first(s, offset);

	if (i == s->count || s->samples[i].offset != offset || v->of_sample[i] == ANNOTATE_NONE)
		return NULL;
	return &v->symbols[v->of_sample[i]];
}

/* Calls @each with the places in an image whose samples are in the view. */
static void each_of_image(const struct annotate *a, const struct annotate_view *v, uint32_t image,
			  const struct annotate_symbol *wanted,
			  void (*each)(const struct annotate_place *place, void *data), void *data)
{
	const struct chain_calls *calls = a->config->calls;
	const size_t n = chain_calls_count(calls);
	const struct symtab *st = v->binary.symtab;
	const uint64_t from = wanted ? wanted->symbol->offset : 0;
	const uint64_t to = wanted ? symtab_at(st, wanted->last)->end : UINT64_MAX;
	size_t i;

	for (i = chain_calls_first(calls, image, from); i < n; i++) {
		const struct chain_calls_place *place = chain_calls_place(calls, i);
		const struct annotate_symbol *symbol;
		uint64_t offset;

		if (place->image != image || place->offset > to) /* a call returns to its end */
			break;
		offset = symtab_code_at(st, place->offset, place->role);
		symbol = symbol_at(v, offset);
		if (symbol && symbol->is_wanted && (!wanted || symbol == wanted))
			each(&(struct annotate_place){ i, symbol,
						       symbol->symbol->address +
							       (offset - symbol->symbol->offset) },
			     data);
	}
}

void annotate_calls_each(const struct annotate *a, const struct annotate_view *v,
			 const struct annotate_symbol *symbol,
			 void (*each)(const struct annotate_place *place, void *data), void *data)
{
	size_t i;

	if (!v->binary.symtab)
		return;
	for (i = 0; i < a->image_count; i++)
		if (annotate_takes(a, v->image, i))
			each_of_image(a, v, a->images[i].image, symbol, each, data);
}

/* --- counts --- */

void annotate_calls_add(struct annotate_calls *c, size_t place, uint64_t *count)
{
	uintptr_t number = (uintptr_t)map_get(&c->numbers, (uintptr_t)count);

	if (!number) {
		array_grow(&c->counts, c->count + 1, &c->room);
		c->counts[c->count] = count;
		number = ++c->count;
		(void)map_set(&c->numbers, (uintptr_t)count, (void *)number);
	}
	chain_keys_add(&c->keys, c->annotate->config->calls, place, (uint32_t)number - 1);
}

void annotate_calls_end(struct annotate_calls *c)
{
	_cleanup_free_ uint64_t *sums = xcalloc(c->count + 1, sizeof(*sums));
	size_t i;

	chain_calls_sum(c->annotate->config->calls, &c->keys, sums);
	for (i = 0; i < c->count; i++)
		*c->counts[i] += sums[i];
	chain_keys_done(&c->keys);
	map_done(&c->numbers);
	free(c->counts);
	*c = (struct annotate_calls){ .annotate = c->annotate };
}

/* Notes what is called from a symbol, and from any selected one. */
struct callers {
	struct annotate *annotate;
	struct annotate_calls calls;
};

static void add_to_symbol(const struct annotate_place *place, void *data)
{
	struct callers *c = data;

	annotate_calls_add(&c->calls, place->number, &place->symbol->counts[ANNOTATE_WITH_CALLS]);
	chain_keys_add(&c->annotate->selected, c->annotate->config->calls, place->number, 0);
}

void annotate_calls_symbols(struct annotate *a, struct annotate_view *v)
{
	struct callers c = { .annotate = a, .calls = { .annotate = a } };
	size_t i;

	for (i = 0; i < v->symbol_count; i++)
		v->symbols[i].counts[ANNOTATE_WITH_CALLS] = v->symbols[i].counts[0];
	annotate_calls_each(a, v, NULL, add_to_symbol, &c);
	annotate_calls_end(&c.calls);
}

/* --- instructions --- */

/* The instructions of a symbol. */
struct code {
	struct annotate_calls calls;
	struct {
		uint64_t begin, end;
	} * list;
	size_t count, room;
	uint64_t *counts;
};

static void add_piece(struct code *code, const struct symbol *piece, struct disasm *disasm)
{
	struct disasm_insn insn;

	if (!disasm_seek(disasm, piece->address, piece->address + (piece->end - piece->offset)))
		return;
	while (disasm_next(disasm, &insn)) {
		array_grow(&code->list, code->count + 1, &code->room);
		code->list[code->count].begin = insn.address;
		code->list[code->count++].end = insn.address + insn.size;
	}
}

/* Notes which instruction a place is in: those of a piece are sorted, and there are few pieces. */
static void add_to_code(const struct annotate_place *place, void *data)
{
	struct code *code = data;
	size_t i;

	for (i = 0; i < code->count; i++)
		if (place->address >= code->list[i].begin && place->address < code->list[i].end)
			break;
	if (i < code->count)
		annotate_calls_add(&code->calls, place->number, &code->counts[i]);
}

uint64_t *annotate_calls_code(const struct annotate *a, const struct annotate_view *v,
			      const struct annotate_symbol *symbol, struct disasm *disasm)
{
	struct code code = { .calls = { .annotate = a } };
	const struct symtab *st = v->binary.symtab;
	size_t i;

	for (i = symbol->first; i <= symbol->last; i++)
		if (symtab_at(st, i)->whole == symbol->first)
			add_piece(&code, symtab_at(st, i), disasm);
	code.counts = xcalloc(code.count + 1, sizeof(*code.counts));
	annotate_calls_each(a, v, symbol, add_to_code, &code);
	annotate_calls_end(&code.calls);
	free(code.list);
	return code.counts;
}
