/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/binary/keep.h"

#include "base/clock.h"
#include "base/mem.h"
#include "profile/binary/binary.h"
#include "profile/binary/internal/search.h"
#include "profile/binary/internal/weigh.h"
#include "profile/select/gather.h"
#include "sfile/manifest.h"

#include <stdlib.h>
#include <unistd.h>

struct image_samples {
	uint32_t image;
	uint64_t samples;
};

static int compare_samples(const void *pa, const void *pb)
{
	const struct image_samples *a = pa, *b = pb;

	return (a->samples < b->samples) - (a->samples > b->samples);
}

/* The images with samples that a build-id identifies, by falling number of samples. */
static size_t order_images(const struct gather *g, const struct weight *weights,
			   struct image_samples *ret)
{
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < g->image_count; i++) {
		const struct gather_image *image = &g->images[i];

		if (weights[i].samples && image->id.kind == SNAME_ROOT && image->manifest &&
		    image->manifest->version.build_id.size)
			ret[n++] = (struct image_samples){ i, weights[i].samples };
	}
	qsort(ret, n, sizeof(*ret), compare_samples);
	return n;
}

/* Whether nobody else may have made the file to be read by root. */
static bool is_trusted(const struct stat *st, uid_t owner)
{
	if (geteuid() != 0)
		return true;
	return (st->st_uid == 0 || st->st_uid == owner) && !(st->st_mode & S_IWOTH);
}

static bool may_read(struct binaries *bs, uint32_t image, const struct sfile_header *header,
		     const struct keep_limits *limits)
{
	struct search s = search_for(bs, image, header);
	struct stat st;
	_cleanup_free_ char *path = search_unopened(&s, &st);

	/* /proc/kallsyms has no size, and the session has a copy of it. */
	return path && st.st_size && (uint64_t)st.st_size <= limits->file_bytes &&
	       is_trusted(&st, limits->owner);
}

void keep_images(const struct gather *g, struct binaries *bs, const struct keep_limits *limits,
		 void (*take)(uint32_t image, const struct binary *b, void *data), void *data)
{
	uint64_t total, start = clock_now_ns();
	_cleanup_free_ struct weight *weights = weigh_images(g, &total);
	_cleanup_free_ struct image_samples *order = xcalloc(g->image_count + 1, sizeof(*order));
	size_t i, n = order_images(g, weights, order);

	for (i = 0; i < n && clock_now_ns() - start < limits->time_ns; i++) {
		const struct sfile_header *header = &weights[order[i].image].header;
		struct binary b;

		if (!may_read(bs, order[i].image, header, limits))
			continue;
		binary_open(bs, order[i].image, header, &b);
		take(order[i].image, &b, data);
		binary_close(&b);
	}
}

/* Opening the file has stored its symbols. */
static void count_symbols(uint32_t image _unused_, const struct binary *b, void *data)
{
	*(size_t *)data += b->symtab != NULL;
}

size_t keep_symbols(const struct gather *g, struct binaries *bs, const struct keep_limits *limits)
{
	size_t kept = 0;

	keep_images(g, bs, limits, count_symbols, &kept);
	return kept;
}

const char *binaries_root(const struct binaries *bs, uint32_t image)
{
	const struct gather *g = bs->gather;

	return g->sessions[g->images[image].session].archive ?: bs->root;
}
