/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "differ_kernel.h"

#include "base/map.h"
#include "base/mem.h"
#include "driver/driver.h"
#include "driver/bpf/sampler.h"
#include "driver/bpf/sampler_images.h"
#include "driver/bpf/table_loader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KEYS = 65536 };

struct chains {
	struct chain **list;
	size_t count, room;
};

struct in_kernel {
	struct cookie_table *cookies;
	struct sampler *sampler;
	struct sampler_images *images;
	struct table_loader *tables;
	size_t depth;
	struct map told; /* callers that the program has sent: struct sample_chain by number */
	uint32_t pid;	 /* whose samples are compared */
	struct chains ours, theirs;
	struct tally tally;
	uint64_t unpaired; /* samples of perf's that the program has not */
	uint64_t lost;	   /* of the program's, what it says itself of those */
};

int in_kernel_new(struct cookie_table *cookies, unsigned int depth, struct in_kernel **ret,
		  struct error *err)
{
	const struct sampler_config config = { .keys = KEYS,
					       .depth = SAMPLE_DEPTH_MAX,
					       .pass_on = true };
	struct in_kernel *k = xcalloc(1, sizeof(*k));
	int r;

	k->cookies = cookies;
	k->depth = depth;
	r = sampler_new(&config, &k->sampler, err);
	if (r == 0)
		r = table_loader_start(k->sampler, NULL, DRIVER_UNWIND_DEFAULT, &k->tables, err);
	if (r < 0) {
		in_kernel_free(k);
		return r;
	}
	k->images = sampler_images_new("", cookies);
	*ret = k;
	return 0;
}

static void clear(struct chains *c)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		free(c->list[i]);
	c->count = 0;
}

static void add(struct chains *c, struct chain *chain)
{
	array_grow(&c->list, c->count + 1, &c->room);
	c->list[c->count++] = chain;
}

void in_kernel_free(struct in_kernel *k)
{
	if (!k)
		return;
	table_loader_stop(k->tables);
	sampler_free(k->sampler);
	sampler_images_free(k->images);
	clear(&k->ours);
	clear(&k->theirs);
	free(k->ours.list);
	free(k->theirs.list);
	map_for_each (&k->told, slot)
		free(slot->value);
	map_done(&k->told);
	free(k);
}

int in_kernel_attach(struct in_kernel *k, int event)
{
	return sampler_attach(event, 0, k->sampler);
}

void in_kernel_begin(struct in_kernel *k, uint32_t pid)
{
	k->pid = pid;
}

void in_kernel_theirs(struct in_kernel *k, struct chain *chain)
{
	add(&k->theirs, chain);
}

/* --- messages of the program --- */

static void on_image(const struct sample_image *image, void *data)
{
	sampler_images_add(((struct in_kernel *)data)->images, image);
}

static void on_chain(const struct sample_chain *chain, void *data)
{
	struct in_kernel *k = data;
	size_t bytes = offsetof(struct sample_chain, data) + chain->words * sizeof(*chain->data);

	free(map_set(&k->told, chain->id, xmemdup(chain, bytes)));
}

static struct evbuf_frame frame_of(struct in_kernel *k, const struct sample_frame *f)
{
	const uint64_t offset = f->place_offset & ((1ULL << SAMPLE_FRAME_PLACE_SHIFT) - 1);

	switch ((enum sample_place)(f->place_offset >> SAMPLE_FRAME_PLACE_SHIFT)) {
	case SAMPLE_FILE:
		return (struct evbuf_frame){
			sampler_images_cookie(k->images, &f->image.file, k->pid, 0), offset
		};
	case SAMPLE_VDSO:
		return (struct evbuf_frame){ cookie_vdso(k->cookies), offset };
	case SAMPLE_ANON:
	case SAMPLE_HEAP:
	case SAMPLE_STACK:
	case SAMPLE_VDSO_32:
		break;
	case SAMPLE_KERNEL:
	case SAMPLE_CODE_OBJECT:
	case SAMPLE_WAKER:
	case SAMPLE_PLACE_COUNT_:
		return (struct evbuf_frame){ EVBUF_KERNEL, offset };
	}
	return (struct evbuf_frame){ EVBUF_NO_COOKIE, f->image.region.start + offset };
}

/* Makes a chain of the part in user space. */
static struct chain *user_chain(struct in_kernel *k, const struct sample_key *key,
				const struct sample_chain *callers)
{
	uint32_t at = callers->kernel_count;
	struct chain *c = xmalloc(sizeof(*c) + (1 + callers->words) * sizeof(*c->frames));
	struct sample_frame f;

	*c = (struct chain){ .tid = key->tid, .end = callers->end };
	if (key->place != SAMPLE_KERNEL) {
		f.place_offset = key->offset | (uint64_t)key->place << SAMPLE_FRAME_PLACE_SHIFT;
		memcpy(&f.image, &key->image, sizeof(f.image));
		c->frames[c->count++] = frame_of(k, &f);
	}
	for (; at + SAMPLE_FRAME_WORDS <= callers->words && c->count < k->depth;
	     at += SAMPLE_FRAME_WORDS) {
		memcpy(&f, &callers->data[at], sizeof(f));
		c->frames[c->count++] = frame_of(k, &f);
	}
	return c;
}

static void on_sample(const struct sample_key *key, uint32_t number, uint64_t count, void *data)
{
	struct in_kernel *k = data;
	const struct sample_chain *callers = map_get(&k->told, key->chain);
	uint64_t i;

	(void)number;
	for (i = 0; i < count && key->tgid == k->pid; i++) {
		struct chain *c = callers ? user_chain(k, key, callers) : NULL;

		/* On its way to another program it is in no user space. */
		if (c && c->count) {
			add(&k->ours, c);
		} else {
			free(c);
			k->lost++;
		}
	}
}

void in_kernel_drain(struct in_kernel *k)
{
	const struct sampler_handler handler = {
		.image = on_image, .chain = on_chain, .sample = on_sample, .data = k
	};

	sampler_drain(k->sampler, &handler);
}

/* --- who belongs to whom --- */

static int by_frames(const void *a, const void *b)
{
	const struct chain *x = *(struct chain *const *)a, *y = *(struct chain *const *)b;
	int r = (x->tid > y->tid) - (x->tid < y->tid);

	if (r == 0)
		r = memcmp(x->frames, y->frames, MIN(x->count, y->count) * sizeof(*x->frames));
	return r ? r : (x->count > y->count) - (x->count < y->count);
}

static bool same_leaf(const struct chain *a, const struct chain *b)
{
	return a->tid == b->tid && a->count && b->count &&
	       !memcmp(a->frames, b->frames, sizeof(*a->frames));
}

/* Takes out of both lists, which are sorted, what they have in common. */
static void take_equal(struct in_kernel *k)
{
	struct chains *a = &k->ours, *b = &k->theirs;
	size_t i = 0, j = 0, in_a = 0, in_b = 0;

	while (i < a->count && j < b->count) {
		int r = by_frames(&a->list[i], &b->list[j]);

		if (r < 0) {
			a->list[in_a++] = a->list[i++];
		} else if (r > 0) {
			b->list[in_b++] = b->list[j++];
		} else {
			tally_add(&k->tally, k->cookies, a->list[i], b->list[j]);
			free(a->list[i++]);
			free(b->list[j++]);
		}
	}
	while (i < a->count)
		a->list[in_a++] = a->list[i++];
	while (j < b->count)
		b->list[in_b++] = b->list[j++];
	a->count = in_a;
	b->count = in_b;
}

/* The one of ours that belongs to @theirs: of the same thread at the same address, and, where it
 * shall be @akin, nothing that cannot be the same stack. NULL if there is none; taken out of the
 * list. */
static struct chain *take_partner(struct in_kernel *k, const struct chain *theirs, bool akin)
{
	struct chain **slot, **end = k->ours.list + k->ours.count;

	for (slot = k->ours.list; slot < end; slot++)
		if (*slot && same_leaf(*slot, theirs) &&
		    (!akin || chain_compare(k->cookies, *slot, theirs) != VERDICT_DIFFERENT))
			return STEAL(*slot);
	return NULL;
}

/* Compares what is left: two of one thread at one address may have changed places. */
static void pair_rest(struct in_kernel *k, bool akin)
{
	size_t i;

	for (i = 0; i < k->theirs.count; i++) {
		_cleanup_free_ struct chain *ours = NULL;

		if (!k->theirs.list[i])
			continue;
		ours = take_partner(k, k->theirs.list[i], akin);
		if (!ours)
			continue;
		tally_add(&k->tally, k->cookies, ours, k->theirs.list[i]);
		free(STEAL(k->theirs.list[i]));
	}
}

/* Whether one of ours is @theirs, but for the system call at which they are. Without its number, a
 * copy cannot tell a call on its way back from a new task, and is at the next instruction; nor from
 * an interrupt there, and is at the call. Takes it out of the list. */
static bool take_returning(struct in_kernel *k, const struct chain *theirs)
{
	enum { SYSCALL_BYTES = 2 };
	struct chain **slot, **end = k->ours.list + k->ours.count;

	for (slot = k->ours.list; slot < end; slot++)
		if (*slot && (*slot)->tid == theirs->tid && (*slot)->count && theirs->count &&
		    (*slot)->frames[0].cookie == theirs->frames[0].cookie &&
		    ((*slot)->frames[0].offset + SYSCALL_BYTES == theirs->frames[0].offset ||
		     (*slot)->frames[0].offset == theirs->frames[0].offset + SYSCALL_BYTES)) {
			free(STEAL(*slot));
			return true;
		}
	return false;
}

bool in_kernel_end(struct in_kernel *k, bool counts)
{
	bool loaded = true;
	size_t i;

	for (i = 0; i < k->ours.count; i++)
		loaded &= k->ours.list[i]->end != CHAIN_END_NOT_LOADED;
	if (counts) {
		qsort(k->ours.list, k->ours.count, sizeof(*k->ours.list), by_frames);
		qsort(k->theirs.list, k->theirs.count, sizeof(*k->theirs.list), by_frames);
		take_equal(k);
		pair_rest(k, true);
		pair_rest(k, false);
		for (i = 0; i < k->theirs.count; i++)
			k->unpaired += k->theirs.list[i] && !take_returning(k, k->theirs.list[i]);
	}
	clear(&k->ours);
	clear(&k->theirs);
	k->pid = 0;
	return loaded;
}

bool in_kernel_tell(const struct in_kernel *k)
{
	struct sample_counters c;
	uint64_t lost;

	sampler_counters(k->sampler, SAMPLE_SLOT_EVENT, &c);
	lost = k->lost + c.map_full + c.no_mapping + c.no_tree;
	tally_tell(&k->tally, "in the kernel");
	printf("  in the kernel without a chain: %" PRIu64 ", of %" PRIu64 " it told\n",
	       k->unpaired, lost);
	return tally_is_good(&k->tally) && k->unpaired <= lost;
}
