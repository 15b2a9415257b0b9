/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/binary/internal/weigh.h"

#include "base/mem.h"
#include "profile/select/gather.h"
#include "sfile/odb.h"

struct weight *weigh_images(const struct gather *g, uint64_t *ret_total)
{
	struct weight *weights = xcalloc(g->image_count + 1, sizeof(*weights));
	size_t i, k, n;

	*ret_total = 0;
	for (i = 0; i < g->file_count; i++) {
		const struct gather_file *file = &g->files[i];
		_cleanup_(sfile_closep) struct sfile *sf = NULL;
		const struct odb_node *nodes;
		uint64_t sum = 0;

		if (file->callee != GATHER_NONE || sfile_open(file->path, &sf, NULL) < 0)
			continue;
		nodes = odb_nodes(sfile_odb(sf), &n);
		for (k = 0; k < n; k++)
			sum += nodes[k].value;
		weights[file->image].samples += sum;
		weights[file->image].header = *sfile_header(sf);
		*ret_total += sum;
	}
	return weights;
}
