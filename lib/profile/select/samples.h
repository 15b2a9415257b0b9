/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of one or several sample files, sorted by offset.
 *
 *	struct samples s = SAMPLES_INIT;
 *	file_counts_read(c, class, &s);		once for each file
 *	samples_sort(&s);
 *	for (i = 0; i < s.count; i++)
 *		...s.samples[i].offset...
 *	samples_done(&s);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The offset of samples whose own was too rare to be kept in the history. */
#define SAMPLE_RARE UINT64_MAX

struct sample {
	uint64_t offset; /* the key of the sample file */
	uint32_t count;
	uint32_t class;
};

struct samples {
	struct sample *samples;
	size_t count, room;
	struct sample *spare; /* the sort's second array, kept for the next one */
	size_t spare_room;
};

#define SAMPLES_INIT ((struct samples){ 0 })

/* Sorts them by offset. */
void samples_sort(struct samples *s);
/* Frees the memory that sorting needed, which is as much as that of the samples. */
void samples_trim(struct samples *s);
/* Sorts them by the upper 32 bits of the offset only, which in call graph files are the caller. */
void samples_sort_upper(struct samples *s);
/* Of sorted samples, the index of the first one at or after the offset. */
size_t samples_first(const struct samples *s, uint64_t offset);
/* Removes all samples but keeps the memory. */
void samples_clear(struct samples *s);
/* Frees all. */
void samples_done(struct samples *s);
