/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/binary/fetch.h"

#include "base/log.h"
#include "base/mem.h"
#include "elf/debuginfod.h"
#include "profile/binary/binary.h"
#include "profile/select/gather.h"
#include "sfile/manifest.h"
#include "sfile/odb.h"
#include "sfile/sfile.h"

#include <string.h>

/* An image's samples, and the header of one of its files. */
struct weight {
	uint64_t samples;
	struct sfile_header header;
};

/* Sums all sample files; returns the total. The report itself warns about unreadable files. */
static uint64_t weigh(const struct gather *g, struct weight *weights)
{
	uint64_t total = 0;
	size_t i, k, n;

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
		total += sum;
	}
	return total;
}

struct plan {
	const struct gather *g;
	struct debuginfod_want *wants;
	uint32_t *images; /* images that the files are for */
	size_t count;
};

static void add_want(struct plan *p, uint32_t image, bool executable)
{
	const struct gather_image *i = &p->g->images[image];

	p->wants[p->count] = (struct debuginfod_want){ .id = &i->manifest->version.build_id,
						       .name = i->display,
						       .executable = executable };
	p->images[p->count++] = image;
}

/* Adds the missing files of an image to the plan. */
static void plan_image(struct plan *p, struct binaries *bs, uint32_t image, const struct weight *w)
{
	const struct gather_image *i = &p->g->images[image];
	bool lines;

	if (!i->manifest || !i->manifest->version.build_id.size || i->id.kind != SNAME_ROOT)
		return;
	if (!binary_is_here(bs, image, &w->header, &lines))
		add_want(p, image, true);
	if (!lines)
		add_want(p, image, false);
}

static void take(struct plan *p, struct binaries *bs)
{
	size_t i;

	for (i = 0; i < p->count; i++) {
		struct debuginfod_want *w = &p->wants[i];

		if (w->path)
			binaries_take_fetched(bs, p->images[i], !w->executable, STEAL(w->path));
		else
			log_debug("debuginfod: %s of %s: %s",
				  w->executable ? "the binary" : "debug information", w->name,
				  strerror(-w->error));
	}
}

void fetch_images(const struct gather *g, struct binaries *bs, double percent,
		  const struct debuginfod_progress *progress, struct error *err)
{
	_cleanup_free_ struct weight *weights = xcalloc(g->image_count + 1, sizeof(*weights));
	_cleanup_free_ struct debuginfod_want *wants =
		xcalloc(2 * g->image_count + 1, sizeof(*wants));
	_cleanup_free_ uint32_t *images = xcalloc(2 * g->image_count + 1, sizeof(*images));
	struct plan plan = { .g = g, .wants = wants, .images = images };
	uint64_t total = weigh(g, weights);
	uint32_t i;

	for (i = 0; i < g->image_count; i++)
		if (weights[i].samples &&
		    (double)weights[i].samples * 100 >= percent * (double)total)
			plan_image(&plan, bs, i, &weights[i]);
	if (plan.count)
		(void)debuginfod_fetch(wants, plan.count, progress, err);
	take(&plan, bs);
}
