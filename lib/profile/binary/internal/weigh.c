/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/binary/internal/weigh.h"

#include "base/mem.h"
#include "profile/select/file_counts.h"
#include "profile/select/gather.h"

struct weight *weigh_images(const struct gather *g, uint64_t *ret_total)
{
	struct weight *weights = xcalloc(g->image_count + 1, sizeof(*weights));
	size_t i;

	*ret_total = 0;
	for (i = 0; i < g->file_count; i++) {
		const struct gather_file *file = &g->files[i];
		_cleanup_(file_counts_closep) struct file_counts *counts = NULL;
		uint64_t sum;

		if (file->callee != GATHER_NONE || file_counts_open(file, &counts, NULL) < 0)
			continue;
		sum = file_counts_sum(counts);
		weights[file->image].samples += sum;
		weights[file->image].header = *file_counts_header(counts);
		*ret_total += sum;
	}
	return weights;
}
