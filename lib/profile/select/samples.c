/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/samples.h"

#include "base/mem.h"
#include "sfile/odb.h"
#include "sfile/sfile.h"

#include <string.h>

/* A radix sort takes DIGIT_BITS per pass, FEW_BITS for few samples; below SMALL the passes cost
 * more than they save. */
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, FEW_BITS = 8, SMALL = 48, LARGE = 256 << 10 };

/* Number of samples read from a file before their pages are released. */
enum { STRIDE = 64 << 10 };

uint64_t samples_sum(struct sfile *sf)
{
	const struct odb *db = sfile_odb(sf);
	const struct odb_node *nodes;
	uint64_t sum = 0;
	size_t i = 0, n, end;

	nodes = odb_nodes(db, &n);
	while (i < n) {
		for (end = MIN(n, i + STRIDE); i < end; i++)
			sum += nodes[i].value;
		if (i < n)
			odb_forget(db, i);
	}
	return sum;
}

bool samples_read_some(struct samples *s, struct sfile *sf, uint32_t class, size_t *at, size_t most,
		       uint64_t *sum)
{
	const struct odb *db = sfile_odb(sf);
	const struct odb_node *nodes;
	size_t i = *at, n, end;

	nodes = odb_nodes(db, &n);
	end = s->count < most ? i + MIN(n - i, most - s->count) : i;
	array_grow(&s->samples, s->count + (end - i), &s->room);
	for (; i < end; i++) {
		if (i && i % STRIDE == 0)
			odb_forget(db, i);
		s->samples[s->count++] = (struct sample){ nodes[i].key, nodes[i].value, class };
		*sum += nodes[i].value;
	}
	*at = i;
	return i < n;
}

uint64_t samples_read(struct samples *s, struct sfile *sf, uint32_t class)
{
	uint64_t sum = 0;
	size_t at = 0;

	while (samples_read_some(s, sf, class, &at, s->count + STRIDE, &sum))
		;
	return sum;
}

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
