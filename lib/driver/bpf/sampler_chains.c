/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/sampler_chains.h"

#include "base/map.h"
#include "base/mem.h"
#include "driver/bpf/sampler_functions.h"
#include "identity/cookie.h"

#include <bpf/bpf.h>
#include <string.h>

/* A chain may come before the names of its functions, of which a sample sends some each. */
enum { TRIES_MAX = 64 };
/* When more than CHAINS_MANY chains are known, chains are forgotten until CHAINS_ENOUGH are
 * left. */
enum { CHAINS_MANY = SAMPLER_CHAINS_MAX / 8 * 7, CHAINS_ENOUGH = SAMPLER_CHAINS_MAX / 4 * 3 };

struct chain {
	uint64_t id;
	enum chain_end end;
	bool here;	/* the number is in use */
	bool used;	/* since ->hand last passed */
	bool forgotten; /* asked to be forgotten, but may have been counted before */
	bool kept;	/* by sampler_chains_keep() */
	uint8_t tries;	/* that found functions without a name */
	/* With room for one frame before. NULL: written, and none is in replaceable code. */
	struct evbuf_frame *frames;
	size_t frame_count;
};

struct sampler_chains {
	const struct sampler *sampler;
	struct sampler_images *images;
	struct sampler_functions *functions;
	struct cookie_table *cookies;
	struct evbuf *out;
	const int *maps;      /* by slot */
	struct map by_id;     /* number, as a pointer */
	struct chain *chains; /* by number, from 1 */
	uint32_t count;	      /* number of chains, and the first free one */
	size_t chain_room;
	uint32_t hand; /* clock hand: chains not used since its last round are forgotten */
	size_t known;  /* number of chains known to the program */
	uint32_t *free;
	size_t free_count, free_room;
	uint64_t *forgotten; /* ids forgotten at the last pruning */
	size_t forgotten_count, forgotten_room;
	bool spelt_out;
	struct evbuf_frame *frames; /* scratch */
	size_t frame_room;
};

struct sampler_chains *sampler_chains_new(const struct sampler_chains_config *config)
{
	struct sampler_chains *t = xcalloc(1, sizeof(*t));

	t->sampler = config->sampler;
	t->images = config->images;
	t->functions = config->functions;
	t->cookies = config->cookies;
	t->out = config->out;
	t->maps = sampler_maps(config->sampler)->chains;
	t->count = 1;
	return t;
}

static void free_frames(struct sampler_chains *t)
{
	uint32_t i;

	for (i = 1; i < t->count; i++)
		free(t->chains[i].frames);
}

void sampler_chains_free(struct sampler_chains *t)
{
	if (!t)
		return;
	free_frames(t);
	map_done(&t->by_id);
	free(t->chains);
	free(t->free);
	free(t->forgotten);
	free(t->frames);
	free(t);
}

/* The cookie of a frame; EVBUF_NO_COOKIE if its file is unknown. */
static uint64_t frame_cookie(struct sampler_chains *t, const struct sample_frame *f, uint32_t tgid,
			     uint64_t now_ns)
{
	const char *label = "anon";

	switch ((enum sample_place)(f->place_offset >> SAMPLE_FRAME_PLACE_SHIFT)) {
	case SAMPLE_FILE:
		return sampler_images_cookie(t->images, &f->image.file, tgid, now_ns);
	case SAMPLE_VDSO:
		return cookie_vdso(t->cookies);
	case SAMPLE_VDSO_32:
		return cookie_vdso_32(t->cookies, f->image.region.end);
	case SAMPLE_CODE_OBJECT:
		return sampler_functions_cookie(t->functions, f->image.region.start);
	case SAMPLE_HEAP:
		label = "[heap]";
		break;
	case SAMPLE_STACK:
		label = "[stack]";
		break;
	case SAMPLE_ANON:
		break;
	case SAMPLE_KERNEL:
	case SAMPLE_WAKER:
	case SAMPLE_PLACE_COUNT_:
		return EVBUF_NO_COOKIE;
	}
	return cookie_anon(t->cookies, tgid, f->image.region.start, f->image.region.end, label);
}

/* Whether a chain that ends in a copy of a file's text ends because it is one: the program searches
 * a table of the copy. */
static bool is_end_of_copies(enum chain_end end)
{
	return end == CHAIN_END_NO_CODE || end == CHAIN_END_NO_TABLE;
}

/* Whether the names of all functions of a chain have arrived. */
static bool has_names(const struct sampler_chains *t, const struct sample_chain *from)
{
	uint32_t at = from->kernel_count;
	struct sample_frame f;

	for (; at + SAMPLE_FRAME_WORDS <= from->words; at += SAMPLE_FRAME_WORDS) {
		memcpy(&f, &from->data[at], sizeof(f));
		if (f.place_offset >> SAMPLE_FRAME_PLACE_SHIFT == SAMPLE_CODE_OBJECT &&
		    !sampler_functions_knows(t->functions, f.image.region.start))
			return false;
	}
	return true;
}

/* Fills in the frames up to the first unknown one; returns their number. */
static size_t fill_frames(struct sampler_chains *t, const struct sample_chain *from,
			  uint64_t now_ns, enum chain_end *end)
{
	const uint64_t offset_mask = (1ULL << SAMPLE_FRAME_PLACE_SHIFT) - 1;
	const struct cookie_mapped where = { .tgid = from->tgid };
	uint32_t at, count = 0;
	struct sample_frame f;
	uint64_t cookie, offset, mapped = 0;

	array_grow(&t->frames, (size_t)from->words + 1, &t->frame_room);
	for (at = 0; at < from->kernel_count && at < from->words; at++)
		t->frames[count++] = (struct evbuf_frame){ EVBUF_KERNEL, from->data[at] };
	for (; at + SAMPLE_FRAME_WORDS <= from->words; at += SAMPLE_FRAME_WORDS) {
		memcpy(&f, &from->data[at], sizeof(f));
		mapped = frame_cookie(t, &f, from->tgid, now_ns);
		if (mapped == EVBUF_NO_COOKIE) {
			*end = CHAIN_END_UNKNOWN;
			break;
		}
		offset = f.place_offset & offset_mask;
		/* Like a return address, not the address of a call. */
		offset += f.place_offset >> SAMPLE_FRAME_PLACE_SHIFT == SAMPLE_CODE_OBJECT;
		cookie = cookie_original(t->cookies, mapped, &where, &offset);
		t->frames[count++] = (struct evbuf_frame){ cookie, offset };
	}
	if (mapped && is_end_of_copies(*end) && t->frames[count - 1].cookie != mapped)
		*end = CHAIN_END_MOVED;
	return count;
}

/* Returns the number of the callers @id; assigns one if they are new. */
static uint32_t number_for(struct sampler_chains *t, uint64_t id)
{
	uint32_t number = (uint32_t)(uintptr_t)map_get(&t->by_id, id);

	if (number)
		return number;
	if (t->free_count) {
		number = t->free[--t->free_count];
	} else {
		array_grow(&t->chains, (size_t)t->count + 1, &t->chain_room);
		number = t->count++;
	}
	t->chains[number] = (struct chain){ .id = id };
	(void)map_set(&t->by_id, id, (void *)(uintptr_t)number);
	return number;
}

/* Returns whether a caller is in code that can be replaced. */
static bool is_passing(const struct sampler_chains *t, const struct evbuf_frame *frames,
		       size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (frames[i].cookie == EVBUF_KERNEL &&
		    sampler_is_passing(t->sampler, frames[i].offset))
			return true;
	return false;
}

void sampler_chains_add(struct sampler_chains *t, const struct sample_chain *from, uint64_t now_ns)
{
	enum chain_end end =
		from->end < CHAIN_END_COUNT_ ? (enum chain_end)from->end : CHAIN_END_UNKNOWN;
	bool is_named = has_names(t, from);
	size_t count = fill_frames(t, from, now_ns, &end);
	uint32_t number = number_for(t, from->id);
	struct chain *c = &t->chains[number];

	if (!is_named && c->tries < TRIES_MAX) {
		c->tries++;
		(void)bpf_map_delete_elem(t->maps[sample_chain_slot(from->id)], &from->id);
	}
	/* It may exist already: forgotten, and found again before free_forgotten(). */
	t->known += !c->here || c->forgotten;
	c->here = c->used = true;
	c->forgotten = false;
	c->end = end;
	free(c->frames);
	c->frames = NULL;
	c->frame_count = count;
	if (!t->spelt_out)
		evbuf_callers(t->out, number, t->frames, count, end);
	if (!t->spelt_out && !is_passing(t, t->frames, count))
		return;
	c->frames = xcalloc(count + 1, sizeof(*c->frames));
	memcpy(c->frames + 1, t->frames, count * sizeof(*c->frames));
}

uint32_t sampler_chains_number(struct sampler_chains *t, uint64_t id)
{
	uint32_t number = id ? (uint32_t)(uintptr_t)map_get(&t->by_id, id) : 0;

	if (number)
		t->chains[number].used = true;
	return number;
}

/* Frees the numbers of chains that the program was asked to forget last time and has not reported
 * again. Their remaining counts have been drained since. */
static void free_forgotten(struct sampler_chains *t)
{
	size_t i;

	for (i = 0; i < t->forgotten_count; i++) {
		uint32_t number = (uint32_t)(uintptr_t)map_get(&t->by_id, t->forgotten[i]);

		if (!t->chains[number].forgotten)
			continue;
		(void)map_remove(&t->by_id, t->forgotten[i]);
		free(t->chains[number].frames);
		t->chains[number] = (struct chain){ 0 };
		array_grow(&t->free, t->free_count + 1, &t->free_room);
		t->free[t->free_count++] = number;
	}
	t->forgotten_count = 0;
}

static int by_slot(const void *a, const void *b)
{
	uint32_t x = sample_chain_slot(*(const uint64_t *)a);
	uint32_t y = sample_chain_slot(*(const uint64_t *)b);

	return (x > y) - (x < y);
}

/* Makes the program forget the @count chains @ids, all of one slot. */
static void tell_slot(const struct sampler_chains *t, const uint64_t *ids, uint32_t count)
{
	uint32_t done = 0, left, n;

	while (done < count) {
		n = left = count - done;
		if (bpf_map_delete_batch(t->maps[sample_chain_slot(*ids)], ids + done, &n, NULL) ==
		    0)
			return;
		/* Only a missing entry stops the batch. */
		done += MIN(n, left - 1) + 1;
	}
}

/* Makes the program forget the chains in ->forgotten, and sorts these by slot. */
static void tell_forgotten(struct sampler_chains *t)
{
	size_t first = 0;

	if (t->forgotten_count)
		qsort(t->forgotten, t->forgotten_count, sizeof(*t->forgotten), by_slot);
	while (first < t->forgotten_count && !sample_chain_slot(t->forgotten[first]))
		first++;
	tell_slot(t, t->forgotten, (uint32_t)first);
	tell_slot(t, t->forgotten + first, (uint32_t)(t->forgotten_count - first));
}

enum chain_end sampler_chains_end(const struct sampler_chains *t, uint32_t number)
{
	return number ? t->chains[number].end : CHAIN_END_NO_ROOM;
}

bool sampler_chains_end_in_copy(const struct sampler_chains *t, uint32_t number)
{
	return number && !t->chains[number].frame_count && is_end_of_copies(t->chains[number].end);
}

void sampler_chains_restart(struct sampler_chains *t, struct evbuf *out)
{
	uint32_t i;

	t->out = out;
	free_forgotten(t);
	for (i = 1; i < t->count; i++) {
		array_grow(&t->forgotten, t->forgotten_count + 1, &t->forgotten_room);
		if (t->chains[i].here)
			t->forgotten[t->forgotten_count++] = t->chains[i].id;
	}
	tell_forgotten(t);
	free_frames(t);
	map_done(&t->by_id);
	t->count = 1;
	t->hand = 0;
	t->known = t->free_count = t->forgotten_count = 0;
}

void sampler_chains_put(struct sampler_chains *t, const struct evbuf_frame *leaf, uint32_t number,
			const struct evbuf_trace *trace)
{
	struct chain *c = number ? &t->chains[number] : NULL;

	if (!c) {
		evbuf_chain(t->out, leaf, 1, trace);
	} else if (!t->spelt_out) {
		evbuf_called(t->out, leaf, number, trace);
	} else {
		c->frames[0] = *leaf;
		evbuf_chain(t->out, c->frames, c->frame_count + 1, trace);
	}
}

/* Returns whether the chain passes through the @length bytes of kernel code at @start. */
static bool passes(const struct chain *c, uint64_t start, uint64_t length)
{
	size_t i;

	for (i = 1; c->frames && i <= c->frame_count; i++)
		if (c->frames[i].cookie == EVBUF_KERNEL && c->frames[i].offset - start < length)
			return true;
	return false;
}

void sampler_chains_tell_again(struct sampler_chains *t, uint64_t start, uint64_t length)
{
	uint32_t i;

	for (i = 1; i < t->count && !t->spelt_out; i++) {
		const struct chain *c = &t->chains[i];

		if (c->here && passes(c, start, length))
			evbuf_callers(t->out, i, c->frames + 1, c->frame_count, c->end);
	}
}

void sampler_chains_spell_out(struct sampler_chains *t, bool on)
{
	if (t->spelt_out == on)
		return;
	t->spelt_out = on;
	sampler_chains_restart(t, t->out);
}

/* Enters @c into the list of those to be forgotten. */
static void forget(struct sampler_chains *t, struct chain *c)
{
	c->forgotten = true;
	t->known--;
	array_grow(&t->forgotten, t->forgotten_count + 1, &t->forgotten_room);
	t->forgotten[t->forgotten_count++] = c->id;
}

void sampler_chains_keep(struct sampler_chains *t, uint64_t id)
{
	uint32_t number = id ? (uint32_t)(uintptr_t)map_get(&t->by_id, id) : 0;

	if (number)
		t->chains[number].kept = true;
}

size_t sampler_chains_renew(struct sampler_chains *t, size_t from, size_t count)
{
	size_t i = MAX(from, (size_t)1), end = MIN(i + count, (size_t)t->count);

	for (; i < end; i++) {
		struct chain *c = &t->chains[i];

		if (c->here && !c->forgotten && !c->kept)
			forget(t, c);
		c->kept = false;
	}
	tell_forgotten(t);
	return end < t->count ? end : 0;
}

void sampler_chains_prune(struct sampler_chains *t)
{
	struct chain *c;

	free_forgotten(t);
	if (t->known < CHAINS_MANY)
		return;
	while (t->known > CHAINS_ENOUGH) {
		t->hand = t->hand + 1 < t->count ? t->hand + 1 : 1;
		c = &t->chains[t->hand];
		if (!c->here || c->forgotten)
			continue;
		if (c->used) {
			c->used = false;
			continue;
		}
		forget(t, c);
	}
	tell_forgotten(t);
}
