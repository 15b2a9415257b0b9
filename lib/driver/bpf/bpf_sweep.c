/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/bpf_sweep.h"

#include "base/clock.h"
#include "driver/bpf/sampler_chains.h"
#include "driver/bpf/sampler_images.h"
#include "identity/cookie.h"

#include <bpf/bpf.h>

/* Number of images that are always kept, and the time that others have to be sampled again. Words
 * of the event buffer that wait for an image to be identified do not wait that long. */
enum { IMAGES_ENOUGH = 8192 };
static const uint64_t wait_ns = 60 * NS_PER_S;

/* Entries of a map that are looked at, at most: it changes meanwhile. */
enum { ENTRIES_MAX = 1 << 17 };

static void forget_image(const struct sample_file *file, void *data)
{
	sampler_forget_image(data, file);
}

/* Keeps the callers that tasks off their CPUs wait in. */
static void keep_chains(const struct sampler *sampler, struct sampler_chains *chains)
{
	int map = sampler_maps(sampler)->left;
	uint32_t tid = UINT32_MAX; /* no task */
	struct sample_left left;
	size_t i;

	for (i = 0; i < ENTRIES_MAX && bpf_map_get_next_key(map, &tid, &tid) == 0; i++)
		if (bpf_map_lookup_elem(map, &tid, &left) == 0)
			sampler_chains_keep(chains, left.key.chain);
}

/* Keeps the executables of all processes, which may exit without being reported again, and the
 * files that tasks off their CPUs wait in. */
static void keep_files(const struct sampler *sampler, struct sampler_images *images)
{
	const struct sampler_maps *maps = sampler_maps(sampler);
	uint32_t tid = UINT32_MAX, tgid = UINT32_MAX;
	struct sample_left left;
	struct executable exe;
	size_t i;

	for (i = 0; i < ENTRIES_MAX && bpf_map_get_next_key(maps->executables, &tgid, &tgid) == 0;
	     i++)
		if (bpf_map_lookup_elem(maps->executables, &tgid, &exe) == 0)
			sampler_images_use(images, &exe.file);
	for (i = 0; i < ENTRIES_MAX && bpf_map_get_next_key(maps->left, &tid, &tid) == 0; i++) {
		if (bpf_map_lookup_elem(maps->left, &tid, &left) < 0)
			continue;
		if (left.key.app_kind == SAMPLE_APP_FILE)
			sampler_images_use(images, &left.key.app.file);
		if (left.key.place == SAMPLE_FILE)
			sampler_images_use(images, &left.key.image.file);
	}
}

/* Makes the program report again what it samples. */
static void begin(struct sampler *sampler, const struct bpf_samples *samples)
{
	cookie_age(samples->cookies);
	sampler_images_each(samples->images, forget_image, sampler);
	if (!samples->chains)
		return;
	keep_chains(sampler, samples->chains);
	sampler_chains_renew(samples->chains);
}

size_t bpf_sweep(struct bpf_sweep *w, struct sampler *sampler, struct bpf_samples *samples)
{
	size_t limit = w->limit ?: IMAGES_ENOUGH, swept;

	if (!w->begun_ns && cookie_count(samples->cookies) > limit) {
		w->begun_ns = samples->now_ns;
		begin(sampler, samples);
	}
	if (!w->begun_ns || samples->now_ns < w->begun_ns + wait_ns)
		return 0;
	w->begun_ns = 0;
	keep_files(sampler, samples->images);
	swept = sampler_images_sweep(samples->images);
	w->limit = MAX(2 * cookie_count(samples->cookies), (size_t)IMAGES_ENOUGH);
	return swept;
}
