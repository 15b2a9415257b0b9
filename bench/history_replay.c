/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history_replay.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/macro.h"
#include "base/mem.h"
#include "chains/chain_history.h"
#include "chains/chain_read.h"
#include "chains/chain_store.h"
#include "history/history_writer.h"
#include "history/levels.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HOUR_MS INT64_C(3600000)
#define WEEK_MS (7 * 24 * HOUR_MS)

enum {
	RECORDED_CPUS = 2,
	NEW_IMAGES = 1300, /* an hour */
	BUILT_PERCENT = 3, /* of the lasting images, a week */
	/* Of the chains that a slice has once, those that become others. On two CPUs, the pairs of
	 * files then get a million nodes an hour, as measured. More CPUs that do the like do less
	 * that is new: the exponent is 0.87. */
	OTHER_PERMILLE = 300,
};

/* A chain of a recorded slice. */
struct replayed {
	uint32_t context, count; /* of frames, from ->first on */
	size_t first;
	uint64_t samples;
};

struct recorded {
	size_t first, count; /* of chains */
};

/* An image, and its numbers at present. */
struct replayed_image {
	uint32_t slices; /* that have it */
	uint32_t last;	 /* of these */
	bool is_short;	 /* its programs ran for a short time */
	uint64_t version;
	struct sname_image name; /* of this version */
	char *text;
	uint32_t number; /* in the store; 0: not requested yet */
};

struct history_replay {
	char *dir;
	unsigned int cpus, permille;
	int64_t epoch_ms; /* how long short programs keep their names */
	struct chain_reader *reader;
	const struct chain_names *names;
	struct replayed *chains;
	struct chain_frame *frames;
	struct recorded *slices;
	size_t chain_count, frame_count, slice_count, chain_room, frame_room, slice_room;

	struct replayed_image *images;
	uint32_t *contexts;	   /* in the store */
	struct chain_store *store; /* NULL: without chains */
	uint32_t pair;		   /* whose times were not set yet */
	uint32_t packed;	   /* the first pair after those that were packed */
	const struct history_replay_how *how;
	int64_t now_ms;
	uint64_t samples, printed, new_images, pairs;
	struct chain_frame own[CHAIN_FRAMES_MAX];
};

static _noreturn_ void give_up(const char *what)
{
	(void)fprintf(stderr, "history_replay: %s\n", what);
	exit(1);
}

/* --- what was recorded --- */

static void see_image(struct history_replay *r, uint32_t image)
{
	struct replayed_image *i = &r->images[image];
	uint32_t slice = (uint32_t)r->slice_count + 1;

	i->slices += i->last != slice;
	i->last = slice;
}

static int take_chain(uint32_t context, const struct chain *chain, void *data)
{
	struct history_replay *r = data;
	size_t i;

	array_grow(&r->chains, r->chain_count + 1, &r->chain_room);
	array_grow(&r->frames, r->frame_count + chain->count, &r->frame_room);
	r->chains[r->chain_count++] = (struct replayed){ context, (uint32_t)chain->count,
							 r->frame_count, chain->samples };
	see_image(r, chain_names_context_at(r->names, context)->app);
	for (i = 0; i < chain->count; i++) {
		see_image(r, chain->frames[i].image);
		r->frames[r->frame_count++] = chain->frames[i];
	}
	return 0;
}

static int take_slice(const struct slice *slice, void *data)
{
	struct history_replay *r = data;
	size_t before = r->slice_count ? r->slices[r->slice_count - 1].first +
						 r->slices[r->slice_count - 1].count
				       : 0;

	/* Not the last one, which is shorter. */
	if (slice->span.end_ms - slice->span.begin_ms < HISTORY_SLICE_MS * 9 / 10) {
		r->chain_count = before;
		return 0;
	}
	array_grow(&r->slices, r->slice_count + 1, &r->slice_room);
	r->slices[r->slice_count++] = (struct recorded){ before, r->chain_count - before };
	return 0;
}

/* Finds the images of short programs, and how long these keep a name. */
static void find_short(struct history_replay *r)
{
	uint32_t i, count = 0;

	for (i = 1; i <= chain_names_images(r->names); i++) {
		r->images[i].is_short = !chain_names_is_kernel(r->names, i) &&
					r->images[i].slices < r->slice_count / 20 + 2;
		count += r->images[i].is_short;
	}
	r->epoch_ms = HOUR_MS * MAX(count, 1U) / NEW_IMAGES;
	printf("%zu slices, %zu chains, %" PRIu32 " images, of which %" PRIu32 " are short\n",
	       r->slice_count, r->chain_count, chain_names_images(r->names), count);
	(void)fflush(stdout);
}

struct history_replay *history_replay_new(const struct history_replay_how *how)
{
	struct history_replay *r = xcalloc(1, sizeof(*r));

	r->how = how;
	r->dir = xstrdup(how->dir);
	r->cpus = how->cpus / RECORDED_CPUS;
	r->permille = how->cpus > RECORDED_CPUS ? OTHER_PERMILLE * 2 / 3 : OTHER_PERMILLE;
	if (chain_reader_open(how->samples, NULL, &r->reader, NULL) < 0)
		give_up("the session has no chains");
	r->names = chain_reader_names(r->reader);
	r->images = xcalloc((size_t)chain_names_images(r->names) + 1, sizeof(*r->images));
	r->contexts = xcalloc((size_t)chain_names_contexts(r->names) + 1, sizeof(*r->contexts));
	if (chain_reader_each_slice(r->reader, &(struct chain_visitor){ .each = take_chain,
									.end = take_slice,
									.data = r }))
		give_up("the slices cannot be read");
	if (r->slice_count < 6)
		give_up("there are not enough slices");
	find_short(r);
	if (how->flat_only)
		return r;
	if (chain_store_open_sliced(how->dir, &r->store, NULL) < 0)
		give_up("cannot write");
	r->pair = chain_store_live(r->store);
	return r;
}

void history_replay_free(struct history_replay *r)
{
	uint32_t i;

	for (i = 1; i <= chain_names_images(r->names); i++)
		free(r->images[i].text);
	chain_store_close(r->store);
	chain_reader_close(r->reader);
	free(r->dir);
	free(r->chains);
	free(r->frames);
	free(r->slices);
	free(r->images);
	free(r->contexts);
	free(r);
}

/* --- what becomes of it --- */

uint64_t history_replay_builds(const char *name, size_t length, int64_t now_ms)
{
	const uint64_t image = hash_bytes(name, length),
		       weeks = (uint64_t)((now_ms - HISTORY_REPLAY_BEGIN_MS) / WEEK_MS);
	uint64_t week, n = 0;

	for (week = 1; week <= weeks; week++)
		n += hash_u64(image + week) % 100 < BUILT_PERCENT;
	return n;
}

char *history_replay_built(const char *name, size_t length, uint64_t builds)
{
	return builds ? xasprintf("%.*s#%08" PRIx64, (int)length, name, builds)
		      : xstrndup(name, length);
}

/* The version of an image now. */
static uint64_t version_of(const struct history_replay *r, uint32_t image)
{
	const char *name = chain_names_image_at(r->names, image)->name;

	if (r->images[image].is_short)
		return (uint64_t)(r->now_ms / r->epoch_ms);
	return chain_names_is_kernel(r->names, image)
		       ? 0
		       : history_replay_builds(name, strlen(name), r->now_ms);
}

/* Gives all images the names of now. */
static void rename_images(struct history_replay *r)
{
	uint32_t i;

	for (i = 1; i <= chain_names_images(r->names); i++) {
		struct replayed_image *image = &r->images[i];
		uint64_t version = version_of(r, i);

		if (image->text && image->version == version)
			continue;
		r->new_images += image->text && image->is_short;
		free(image->text);
		image->version = version;
		image->name = *chain_names_image_at(r->names, i);
		image->text = image->is_short
				      ? xasprintf("%s%c%" PRIx64, image->name.name,
						  HISTORY_REPLAY_SHORT, version)
				      : history_replay_built(image->name.name,
							     strlen(image->name.name), version);
		image->name.name = image->text;
		image->number = 0;
	}
	/* Those of renamed applications must be requested again. */
	for (i = 1; i <= chain_names_contexts(r->names); i++)
		r->contexts[i] = 0;
}

static void check(int r)
{
	if (r < 0)
		give_up("cannot add a chain");
}

static uint32_t image_of(struct history_replay *r, uint32_t image)
{
	struct replayed_image *i = &r->images[image];

	if (!i->number)
		check(chain_store_image(r->store, &i->name, chain_names_is_kernel(r->names, image),
					&i->number, NULL));
	return i->number;
}

static uint32_t context_of(struct history_replay *r, uint32_t context)
{
	struct chain_context own = *chain_names_context_at(r->names, context);

	if (!r->contexts[context]) {
		own.app = image_of(r, own.app);
		check(chain_store_context(r->store, &own, &r->contexts[context], NULL));
	}
	return r->contexts[context];
}

/* The numbers of a new pair of files are others. */
static void turn(struct history_replay *r)
{
	uint32_t i;
	int turned = chain_store_turn(r->store, NULL);

	check(turned);
	if (!turned)
		return;
	r->pairs++;
	for (i = 1; i <= chain_names_images(r->names); i++)
		r->images[i].number = 0;
	for (i = 1; i <= chain_names_contexts(r->names); i++)
		r->contexts[i] = 0;
}

/* Adds the frames in ->own to the store. */
static void store_chain(struct history_replay *r, const struct replayed *chain)
{
	size_t i;

	turn(r);
	for (i = 0; i < chain->count; i++)
		r->own[i].image = image_of(r, r->own[i].image);
	check(chain_store_add(r->store, context_of(r, chain->context),
			      &(struct chain){ r->own, chain->count, chain->samples }, NULL));
}

/* Adds a chain; some of the rare ones are others from a random frame on. */
static void replay_chain(struct history_replay *r, struct history_writer *h,
			 const struct replayed *chain)
{
	const struct chain_frame *frames = &r->frames[chain->first];
	uint32_t app = chain_names_context_at(r->names, chain->context)->app;
	struct history_name name = { .name = { .event = "TIMER", .task = SNAME_TASK_ALL } };
	size_t i;

	for (i = 0; i < chain->count; i++)
		r->own[i] = frames[i];
	if (chain->samples == 1 && lrand48() % 1000 < (long)r->permille)
		r->own[lrand48() % (long)chain->count].offset += (uint64_t)lrand48() % 4096;
	if (r->store)
		store_chain(r, chain);
	name.name.app = r->images[app].name;
	name.name.image = r->images[frames[0].image].name;
	name.header.is_kernel = chain_names_is_kernel(r->names, frames[0].image);
	history_writer_count(h, history_writer_file(h, &name), r->own[0].offset, chain->samples);
}

static uint64_t replay_slice(struct history_replay *r, struct history_writer *h)
{
	const struct recorded *slice = &r->slices[(size_t)lrand48() % r->slice_count];
	uint64_t samples = 0;
	size_t i;

	for (i = 0; i < slice->count; i++) {
		const struct replayed *chain = &r->chains[slice->first + i];

		if (!chain->count)
			continue;
		replay_chain(r, h, chain);
		samples += chain->samples;
	}
	return samples;
}

/* Files are as old as what is in them. */
static void set_time(const char *path, int64_t now_ms)
{
	const struct timespec at[] = { { now_ms / 1000, 0 }, { now_ms / 1000, 0 } };

	(void)utimensat(AT_FDCWD, path, at, 0);
}

static void set_times_of_pairs(struct history_replay *r, uint32_t live_chains)
{
	for (; r->pair < live_chains; r->pair++) {
		_cleanup_free_ char *slices =
			xasprintf("%s/chains/slices.%" PRIu32, r->dir, r->pair);

		set_time(slices, r->now_ms);
	}
}

/* Has the pairs packed, if there are many. */
static void pack(struct history_replay *r, uint32_t generation)
{
	uint32_t live = r->store ? chain_store_live(r->store) : 0;

	if (!r->store || live < r->packed + history_chains.packs)
		return;
	set_times_of_pairs(r, live);
	r->how->crowded(generation, live, r->now_ms, r->how->data);
	r->packed = live;
}

void history_replay_hour(struct history_replay *r, int64_t begin_ms, uint32_t *ret_live,
			 uint32_t *ret_live_chains)
{
	_cleanup_(history_writer_freep) struct history_writer *h = history_writer_new(r->dir);
	_cleanup_free_ char *flat = NULL;
	unsigned int cpu;

	for (r->now_ms = begin_ms; r->now_ms < begin_ms + HOUR_MS; r->now_ms += HISTORY_SLICE_MS) {
		struct slice s = { { r->now_ms, r->now_ms + HISTORY_SLICE_MS },
				   .cpu_ms = HISTORY_SLICE_MS * (uint64_t)r->cpus };

		rename_images(r);
		for (cpu = 0; cpu < r->cpus; cpu++)
			s.samples += replay_slice(r, h);
		s.taken = s.samples;
		r->samples += s.samples;
		if (history_writer_end(h, &s, NULL) < 0 ||
		    (r->store && chain_store_end_slice(r->store, &s, NULL) < 0))
			give_up("cannot write a slice");
		pack(r, history_writer_generation(h));
	}
	flat = xasprintf("%s/history/%" PRIu32 ".slices", r->dir, history_writer_generation(h));
	set_time(flat, r->now_ms);
	*ret_live = history_writer_generation(h) + 1;
	*ret_live_chains = r->packed = r->store ? chain_store_live(r->store) : 0;
	set_times_of_pairs(r, *ret_live_chains);
}

uint64_t history_replay_samples(const struct history_replay *r)
{
	return r->samples;
}

void history_replay_print(struct history_replay *r)
{
	printf("%.2f M samples, %" PRIu64 " new images, %" PRIu64 " pairs of files\n",
	       (double)(r->samples - r->printed) / 1e6, r->new_images, r->pairs);
	r->printed = r->samples;
	r->new_images = r->pairs = 0;
}
