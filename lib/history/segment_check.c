/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/segment.h"

#include "base/mem.h"

#include <errno.h>

/* Adds up all slices; 0 or -errno. */
static int sum_slices(struct segment *s, uint64_t *sums, uint64_t *samples, struct error *err)
{
	struct segment_counts c;
	size_t i, k;
	int r;

	for (i = 0; i < segment_about(s)->slices; i++) {
		r = segment_counts(s, i, &c);
		if (r == -EBADMSG)
			return error_set(err, r, "%s: slice %zu is damaged", segment_name(s), i);
		if (r < 0)
			return error_errno(err, r, "%s", segment_name(s));
		for (k = 0; k < c.count; k++)
			if (__builtin_add_overflow(sums[c.nodes[k]], c.counts[k],
						   &sums[c.nodes[k]]))
				sums[c.nodes[k]] = UINT64_MAX;
		*samples += segment_slice_at(s, i)->slice.samples;
	}
	return 0;
}

int segment_check(struct segment *s, struct error *err)
{
	_cleanup_free_ uint64_t *sums = NULL;
	uint64_t samples = 0, counts = 0;
	const uint64_t *totals;
	int r = segment_load(s, err);
	size_t i;

	if (r == 0)
		r = segment_totals(s, &totals, err);
	if (r < 0)
		return r;
	sums = xcalloc(segment_about(s)->nodes + 1, sizeof(*sums));
	r = sum_slices(s, sums, &samples, err);
	for (i = 1; r == 0 && i <= segment_about(s)->nodes; i++) {
		if (sums[i] != totals[i])
			return error_set(err, -EBADMSG, "%s: a total is not the sum of the slices",
					 segment_name(s));
		if (__builtin_add_overflow(counts, totals[i], &counts))
			counts = UINT64_MAX;
	}
	if (r == 0 && (samples != segment_about(s)->samples || counts != segment_about(s)->counts))
		return error_set(err, -EBADMSG, "%s: its sum is not that of its slices",
				 segment_name(s));
	return r;
}
