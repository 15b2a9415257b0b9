/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/samples.h"

#include "base/mem.h"

#include <string.h>

/* A radix sort takes DIGIT_BITS per pass, FEW_BITS for few samples; below SMALL the passes cost
 * more than they save. */
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, FEW_BITS = 8, SMALL = 48, LARGE = 256 << 10 };

static int compare_samples(const void *pa, const void *pb)
{
	const struct sample *a = pa, *b = pb;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* One stable pass over the digit of @bits at @shift, from @from to @to. */
static void radix_pass(const struct sample *from, struct sample *to, size_t count,
		       unsigned int shift, unsigned int bits)
{
	size_t starts[DIGITS] = { 0 }, digits = (size_t)1 << bits, i, sum = 0;

	for (i = 0; i < count; i++)
		starts[from[i].offset >> shift & (digits - 1)]++;
	for (i = 0; i < digits; i++) {
		size_t n = starts[i];

		starts[i] = sum;
		sum += n;
	}
	for (i = 0; i < count; i++)
		to[starts[from[i].offset >> shift & (digits - 1)]++] = from[i];
}

/* Sorts by the offset's bits from @lowest on, or by all. */
static void sort_from(struct samples *s, unsigned int lowest)
{
	unsigned int bits = s->count < DIGITS ? FEW_BITS : DIGIT_BITS, shift;
	struct sample *swap;
	uint64_t differ = 0;
	size_t i, room;

	if (s->count < 2)
		return;
	if (s->count < SMALL) {
		qsort(s->samples, s->count, sizeof(*s->samples), compare_samples);
		return;
	}
	for (i = 1; i < s->count; i++)
		differ |= s->samples[i].offset ^ s->samples[0].offset;
	array_grow(&s->spare, s->count, &s->spare_room);
	for (shift = lowest; shift < 64 && differ >> shift; shift += bits) {
		if (!(differ >> shift & (((uint64_t)1 << bits) - 1)))
			continue;
		radix_pass(s->samples, s->spare, s->count, shift, bits);
		swap = s->samples;
		s->samples = s->spare;
		s->spare = swap;
		room = s->room;
		s->room = s->spare_room;
		s->spare_room = room;
	}
}

void samples_sort(struct samples *s)
{
	sort_from(s, 0);
}

void samples_sort_upper(struct samples *s)
{
	sort_from(s, 32);
}

void samples_trim(struct samples *s)
{
	free(s->spare);
	s->spare = NULL;
	s->spare_room = 0;
}

size_t samples_first(const struct samples *s, uint64_t offset)
{
	return FIRST_NOT(i, 0, s->count, s->samples[i].offset < offset);
}

void samples_clear(struct samples *s)
{
	s->count = 0;
}

void samples_done(struct samples *s)
{
	free(s->samples);
	free(s->spare);
	*s = SAMPLES_INIT;
}
