/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/row_detail.h"

#include "base/mem.h"
#include "profile/rows/internal/placer.h"
#include "profile/select/samples.h"

#include <string.h>

static const struct row_place *find_places(struct container *c, const struct row_run *run,
					   struct placer *placer)
{
	struct row_place *places = arena_alloc(&c->arena, run->count * sizeof(*places));
	size_t i;

	for (i = 0; i < run->count; i++) {
		bool same = i && run->samples[i].offset == run->samples[i - 1].offset;

		places[i] = same ? places[i - 1]
				 : placer_find(placer, run->samples[i].offset + run->shift);
	}
	return places;
}

void detail_keep(struct container *c, struct row *row, const struct sample *samples, size_t count,
		 uint64_t shift, struct placer *placer)
{
	struct row_run *run = arena_alloc(&c->arena, sizeof(*run));
	struct sample *copy = arena_alloc(&c->arena, count * sizeof(*copy));

	*run = (struct row_run){ .samples = memcpy(copy, samples, count * sizeof(*copy)),
				 .count = count,
				 .shift = shift };
	if (placer)
		run->places = find_places(c, run, placer);
	run->next = row->runs ? row->runs->next : run;
	if (row->runs)
		row->runs->next = run;
	row->runs = run;
}

void detail_begin(struct detail *d, const struct container *c, const struct row *row)
{
	*d = (struct detail){ .class_count = c->class_count,
			      .run = row->runs ? row->runs->next : NULL,
			      .last = row->runs };
	d->counts = xcalloc(c->class_count, sizeof(*d->counts));
}

bool detail_next(struct detail *d)
{
	const struct row_run *run;
	uint64_t offset;

	while (d->run && d->at == d->run->count) {
		d->run = d->run == d->last ? NULL : d->run->next;
		d->at = 0;
	}
	run = d->run;
	if (!run)
		return false;
	memset(d->counts, 0, d->class_count * sizeof(*d->counts));
	offset = run->samples[d->at].offset;
	d->address = offset + run->shift;
	d->place = run->places ? run->places[d->at] : (struct row_place){ 0 };
	for (; d->at < run->count && run->samples[d->at].offset == offset; d->at++)
		d->counts[run->samples[d->at].class] += run->samples[d->at].count;
	return true;
}

void detail_done(struct detail *d)
{
	free(d->counts);
	*d = (struct detail){ 0 };
}

void detail_join(struct row *row, const struct row *other)
{
	struct row_run *first;

	if (!row->runs || !other->runs) {
		row->runs = row->runs ?: other->runs;
		return;
	}
	first = row->runs->next;
	row->runs->next = other->runs->next;
	other->runs->next = first;
	row->runs = other->runs;
}

uint64_t detail_highest(const struct row *row)
{
	const struct row_run *run = row->runs;
	uint64_t highest = 0;

	if (!run)
		return 0;
	do {
		run = run->next;
		highest = MAX(highest, run->samples[run->count - 1].offset + run->shift);
	} while (run != row->runs);
	return highest;
}

size_t detail_count(const struct row *row)
{
	const struct row_run *run = row->runs;
	size_t n = 0, i;

	if (!run)
		return 0;
	do {
		run = run->next;
		for (i = 0; i < run->count; i++)
			n += !i || run->samples[i].offset != run->samples[i - 1].offset;
	} while (run != row->runs);
	return n;
}
