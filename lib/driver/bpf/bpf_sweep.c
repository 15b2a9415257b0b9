/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/bpf_sweep.h"

#include "base/clock.h"
#include "base/mem.h"
#include "driver/bpf/sampler_chains.h"
#include "driver/bpf/sampler_functions.h"
#include "driver/bpf/sampler_images.h"
#include "identity/cookie.h"

/* Number of images that are always kept, and the time that others have to be sampled again. Words
 * of the event buffer that wait for an image to be identified do not wait that long. */
enum { IMAGES_ENOUGH = 8192 };
static const uint64_t wait_ns = 60 * NS_PER_S;

/* What is dealt with in a step takes a few milliseconds. */
enum { IMAGES_STEP = 512, CHAINS_STEP = 8192, EXECUTABLES_STEP = 4096, LEFT_STEP = 1024 };

static void forget_image(const struct sample_file *file, void *data)
{
	sampler_forget_image(data, file);
}

/* Makes the program report images again; returns whether all were dealt with. */
static bool tell_images(struct bpf_sweep *w, struct sampler *sampler, struct bpf_samples *samples)
{
	const struct sampler_images_walk walk = { .each = forget_image, .data = sampler };

	if (!w->next && samples->functions)
		sampler_functions_forget(samples->functions);
	w->next = sampler_images_walk(samples->images, &walk, w->next, IMAGES_STEP);
	return !w->next;
}

/* Calls @each with all tasks that are off their CPUs, if that is watched. */
static void each_left(const struct sampler *sampler,
		      void (*each)(const struct sample_left *left, struct bpf_samples *samples),
		      struct bpf_samples *samples)
{
	struct map_reader reader = { .map = sampler_maps(sampler)->left };
	_cleanup_free_ struct sample_left *left = xcalloc(LEFT_STEP, sizeof(*left));
	_cleanup_free_ uint32_t *tids = xcalloc(LEFT_STEP, sizeof(*tids));
	uint32_t i, count;

	while ((count = map_reader_next(&reader, tids, left, LEFT_STEP)))
		for (i = 0; i < count; i++)
			each(&left[i], samples);
}

static void keep_chain(const struct sample_left *left, struct bpf_samples *samples)
{
	sampler_chains_keep(samples->chains, left->key.chain);
}

/* Makes the program report chains again, except callers that tasks off their CPUs wait in; returns
 * whether all were dealt with. */
static bool tell_chains(struct bpf_sweep *w, struct sampler *sampler, struct bpf_samples *samples)
{
	if (!samples->chains)
		return true;
	each_left(sampler, keep_chain, samples);
	w->next = sampler_chains_renew(samples->chains, w->next, CHAINS_STEP);
	return !w->next;
}

/* Keeps the executables of all processes, which may exit without being reported again; returns
 * whether all were dealt with. */
static bool keep_executables(struct bpf_sweep *w, struct bpf_samples *samples)
{
	_cleanup_free_ struct executable *exes = xcalloc(EXECUTABLES_STEP, sizeof(*exes));
	_cleanup_free_ uint32_t *tgids = xcalloc(EXECUTABLES_STEP, sizeof(*tgids));
	uint32_t i, count = map_reader_next(&w->executables, tgids, exes, EXECUTABLES_STEP);

	for (i = 0; i < count; i++)
		sampler_images_use(samples->images, &exes[i].file);
	return w->executables.ended;
}

/* Keeps the files that a task off its CPU waits in. */
static void keep_files(const struct sample_left *left, struct bpf_samples *samples)
{
	if (left->key.app_kind == SAMPLE_APP_FILE)
		sampler_images_use(samples->images, &left->key.app.file);
	if (left->key.place == SAMPLE_FILE)
		sampler_images_use(samples->images, &left->key.image.file);
}

static size_t forget(struct bpf_sweep *w, struct sampler *sampler, struct bpf_samples *samples)
{
	size_t swept;

	each_left(sampler, keep_files, samples);
	swept = sampler_images_sweep(samples->images);
	w->limit = MAX(2 * cookie_count(samples->cookies), (size_t)IMAGES_ENOUGH);
	w->stage = BPF_SWEEP_OFF;
	return swept;
}

/* Whether there is so much that what was not sampled for long is to be forgotten. */
static bool is_due(const struct bpf_sweep *w, const struct bpf_samples *samples)
{
	return cookie_count(samples->cookies) > (w->limit ?: IMAGES_ENOUGH) ||
	       (samples->functions && sampler_functions_are_large(samples->functions));
}

size_t bpf_sweep(struct bpf_sweep *w, struct sampler *sampler, struct bpf_samples *samples)
{
	switch (w->stage) {
	case BPF_SWEEP_OFF:
		if (!is_due(w, samples))
			break;
		cookie_age(samples->cookies);
		w->stage = BPF_SWEEP_IMAGES;
		break;
	case BPF_SWEEP_IMAGES:
		if (tell_images(w, sampler, samples))
			w->stage = BPF_SWEEP_CHAINS;
		break;
	case BPF_SWEEP_CHAINS:
		if (!tell_chains(w, sampler, samples))
			break;
		w->told_ns = samples->now_ns;
		w->stage = BPF_SWEEP_WAIT;
		break;
	case BPF_SWEEP_WAIT:
		if (samples->now_ns < w->told_ns + wait_ns)
			break;
		w->executables = (struct map_reader){ .map = sampler_maps(sampler)->executables };
		w->stage = BPF_SWEEP_KEEP;
		break;
	case BPF_SWEEP_KEEP:
		if (keep_executables(w, samples))
			return forget(w, sampler, samples);
		break;
	}
	return 0;
}
