/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/internal/chain_recorder.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "helper/relief.h"
#include "stream/evbuf.h"
#include "record/store/sampled_image.h"
#include "chains/chain_history.h"
#include "chains/chain_store.h"

#include <errno.h>
#include <inttypes.h>

/* Time to wait after the store could not be opened or written. */
#define RETRY_AFTER_NS (5 * NS_PER_S)

struct chain_recorder {
	char *samples;
	bool has_history; /* slices are written */
	const struct event *events;
	struct relief *relief;	   /* or NULL */
	struct chain_store *store; /* NULL: not open */
	uint32_t epoch;		   /* changes when marks and numbers become invalid */
	uint64_t retry_ns;	   /* when to try again; 0: at once */

	/* The chain being taken. */
	bool on;
	bool broken; /* the chain has ended or is too long to store: further frames are dropped */
	bool ends_here;
	struct chain_recorder_owner owner;
	uint64_t weight;
	struct sampled_image **images; /* of each frame */
	struct chain_frame *frames;
	size_t count, image_room, frame_room;

	/* The last context used. */
	struct chain_recorder_owner last_owner;
	uint64_t last_end;
	uint32_t last_context; /* 0: none */

	struct chain_recorder_owner *by_context; /* by its number in the store */
	size_t contexts_room;

	size_t sample_events;
	uint64_t ends[CHAIN_END_COUNT_], lost;
};

struct chain_recorder *chain_recorder_new(const struct chain_recorder_config *config)
{
	struct chain_recorder *t = xcalloc(1, sizeof(*t));

	t->samples = xstrdup(config->samples);
	t->has_history = config->has_history;
	t->events = config->events;
	t->relief = config->relief;
	t->epoch = 1;
	t->sample_events = config->sample_events;
	return t;
}

void chain_recorder_free(struct chain_recorder *t)
{
	if (!t)
		return;
	chain_recorder_close(t);
	free(t->samples);
	free(t->images);
	free(t->frames);
	free(t->by_context);
	free(t);
}

void chain_recorder_close(struct chain_recorder *t)
{
	relief_leave(t->relief);
	chain_store_close(STEAL(t->store));
	relief_return(t->relief);
	t->epoch++;
	t->on = false;
	t->last_context = 0;
	t->retry_ns = 0;
}

void chain_recorder_let_go(struct chain_recorder *t)
{
	t->epoch++;
	t->last_context = 0;
}

void chain_recorder_end_pair(struct chain_recorder *t)
{
	if (t->store && t->has_history)
		chain_store_end_pair(t->store);
}

void chain_recorder_begin(struct chain_recorder *t, const struct chain_recorder_owner *owner,
			  uint64_t weight)
{
	t->on = true;
	t->broken = t->ends_here = false;
	t->owner = *owner;
	t->weight = weight;
	t->count = 0;
}

void chain_recorder_frame(struct chain_recorder *t, const struct chain_recorder_place *place)
{
	if (!t->on || t->broken)
		return;
	t->ends_here = !place->image;
	t->broken = !place->image || t->count == CHAIN_FRAMES_MAX;
	if (t->broken)
		return;
	if (t->count == MIN(t->image_room, t->frame_room)) {
		array_grow(&t->images, t->count + 1, &t->image_room);
		array_grow(&t->frames, t->count + 1, &t->frame_room);
	}
	t->images[t->count] = place->image;
	t->frames[t->count++] = (struct chain_frame){ .offset = place->key };
}

static int number_of(struct chain_recorder *t, struct sampled_image *image, uint32_t *ret,
		     struct error *err)
{
	int r = 0;

	if (image->chain_epoch != t->epoch)
		r = chain_store_image(t->store, &image->image, image->is_kernel,
				      &image->chain_number, err);
	if (r == 0)
		image->chain_epoch = t->epoch;
	*ret = image->chain_number;
	return r;
}

static bool same_owner(const struct chain_recorder_owner *a, const struct chain_recorder_owner *b)
{
	return a->app == b->app && a->event == b->event && sname_task_equal(&a->task, &b->task);
}

static bool is_last(const struct chain_recorder *t, uint64_t end)
{
	return t->last_context && t->last_end == end && same_owner(&t->owner, &t->last_owner);
}

static int find_context(struct chain_recorder *t, uint64_t end, struct error *err)
{
	const struct event *event = &t->events[t->owner.event];
	_cleanup_free_ char *name = NULL;
	struct chain_context context = { .end = chain_end_name(end), .task = t->owner.task };
	int r;

	if (t->owner.app && is_last(t, end))
		return 0;
	/* As in sample file names. */
	name = xasprintf("%s.%" PRId32 ".%" PRId32, event->name, (int32_t)event->count,
			 (int32_t)event->unit_mask);
	context.event = name;
	t->last_context = 0;
	r = number_of(t, t->owner.app ? t->owner.app : t->images[0], &context.app, err);
	if (r == 0)
		r = chain_store_context(t->store, &context, &t->last_context, err);
	if (r < 0)
		return r;
	array_grow(&t->by_context, (size_t)t->last_context + 1, &t->contexts_room);
	t->by_context[t->last_context] = t->last_owner = t->owner;
	t->last_end = end;
	return 0;
}

static int open_store(struct chain_recorder *t, struct error *err)
{
	return t->has_history ? chain_store_open_sliced(t->samples, &t->store, err)
			      : chain_store_open(t->samples, &t->store, err);
}

static int store_chain(struct chain_recorder *t, uint64_t end, struct error *err)
{
	const struct chain chain = { t->frames, t->count, t->weight };
	size_t i;
	int r = 0;

	if (!t->store)
		r = open_store(t, err);
	if (r == 0 && chain_store_is_full(t->store))
		chain_recorder_let_go(t);
	if (r == 0)
		r = chain_store_turn(t->store, err);
	if (r >= 0)
		r = find_context(t, end, err);
	for (i = 0; i < t->count && r == 0; i++)
		r = number_of(t, t->images[i], &t->frames[i].image, err);
	if (r < 0)
		return r;
	return chain_store_add(t->store, t->last_context, &chain, err);
}

/* Stores the chain unless the store is to be left alone; returns whether it was stored. */
static bool try_store(struct chain_recorder *t, uint64_t end)
{
	struct error err = ERROR_INIT;
	int r;

	if (t->retry_ns && clock_now_ns() < t->retry_ns)
		return false;
	relief_leave(t->relief);
	r = store_chain(t, end, &err);
	relief_return(t->relief);
	if (r == 0) {
		t->retry_ns = 0;
		return true;
	}
	/* Too many images to number this one; other chains can still be stored. */
	if (r == -EOVERFLOW)
		return false;
	log_error("%s", err.text);
	t->retry_ns = clock_now_ns() + RETRY_AFTER_NS;
	return false;
}

static struct chain_recorder_mark mark_of_last(const struct chain_recorder *t)
{
	return (struct chain_recorder_mark){ t->epoch, t->last_context,
					     chain_store_callers(t->store) };
}

/* The number of samples that the chain represents. */
static uint64_t samples_of(const struct chain_recorder *t)
{
	return t->owner.event < t->sample_events ? t->weight : 1;
}

void chain_recorder_end(struct chain_recorder *t, uint64_t end, struct chain_recorder_mark *ret)
{
	uint64_t why = t->ends_here ? (uint64_t)CHAIN_END_NO_MAPPING : end;
	uint64_t samples = samples_of(t);

	if (!t->on)
		return;
	t->on = false;
	if (!t->count)
		return;
	t->ends[why] += samples;
	if (!try_store(t, why))
		t->lost += samples;
	else if (ret && t->owner.app && !t->broken)
		*ret = mark_of_last(t);
}

/* Adds a chain that consists of @leaf, a frame in @image, and the callers of @mark. */
static int store_called(struct chain_recorder *t, const struct chain_recorder_mark *mark,
			struct sampled_image *image, struct chain_frame *leaf)
{
	int r;

	relief_leave(t->relief);
	r = number_of(t, image, &leaf->image, NULL);
	if (r == 0)
		r = chain_store_add_called(t->store, &mark->callers, leaf, t->weight);
	relief_return(t->relief);
	return r;
}

bool chain_recorder_end_at(struct chain_recorder *t, uint64_t end,
			   const struct chain_recorder_mark *mark)
{
	struct chain_frame leaf;

	if (!t->on || t->count != 1 || t->broken || mark->epoch != t->epoch ||
	    !same_owner(&t->owner, &t->by_context[mark->context]) || chain_store_is_full(t->store))
		return false;
	leaf = t->frames[0];
	if (store_called(t, mark, t->images[0], &leaf) < 0)
		return false;
	t->on = false;
	t->ends[end] += samples_of(t);
	return true;
}

int chain_recorder_end_slice(struct chain_recorder *t, const struct slice *slice, struct error *err)
{
	return t->store ? chain_store_end_slice(t->store, slice, err) : 0;
}

uint32_t chain_recorder_live(const struct chain_recorder *t)
{
	uint32_t live;

	relief_leave(t->relief);
	live = t->store ? chain_store_live(t->store) : chain_history_next(t->samples);
	relief_return(t->relief);
	return live;
}

bool chain_recorder_is_crowded(const struct chain_recorder *t, uint32_t first)
{
	return t->store && chain_store_live(t->store) >= first + history_chains.packs;
}

const uint64_t *chain_recorder_ends(const struct chain_recorder *t)
{
	return t->ends;
}

uint64_t chain_recorder_lost(const struct chain_recorder *t)
{
	return t->lost;
}

size_t chain_recorder_memory(const struct chain_recorder *t)
{
	return t->store ? chain_store_memory(t->store) : 0;
}
