/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/binary/fetch.h"

#include "base/log.h"
#include "base/mem.h"
#include "elf/debuginfod.h"
#include "profile/binary/binary.h"
#include "profile/binary/internal/weigh.h"
#include "profile/select/gather.h"
#include "sfile/manifest.h"
#include "sfile/source_image.h"

#include <string.h>

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

	if (!i->manifest || !i->manifest->version.build_id.size || i->id.kind != SNAME_ROOT ||
	    source_image_is(i->manifest))
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

static void fetch(const struct fetch_config *config, struct plan *p, struct error *err)
{
	if (config->ask)
		(void)config->ask(p->wants, p->count, config->socket, err);
	else
		(void)debuginfod_fetch(p->wants, p->count, config->progress, err);
}

void fetch_images(const struct fetch_config *config, const struct gather *g, struct binaries *bs,
		  struct error *err)
{
	uint64_t total;
	_cleanup_free_ struct weight *weights = weigh_images(g, &total);
	_cleanup_free_ struct debuginfod_want *wants =
		xcalloc(2 * g->image_count + 1, sizeof(*wants));
	_cleanup_free_ uint32_t *images = xcalloc(2 * g->image_count + 1, sizeof(*images));
	struct plan plan = { .g = g, .wants = wants, .images = images };
	uint32_t i;

	for (i = 0; i < g->image_count && config->wanted; i++)
		if (weights[i].samples &&
		    (double)weights[i].samples * 100 >= config->percent * (double)total)
			plan_image(&plan, bs, i, &weights[i]);
	if (plan.count)
		fetch(config, &plan, err);
	take(&plan, bs);
}
