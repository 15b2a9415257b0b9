/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the key of a run at the place of its CPU, in the current round. */
#pragma once

#include "maps.bpf.h"

enum { KEY_WORDS = sizeof(struct sample_key) / 8, KEY_PROBES = 4 };

/* Not inlined: with its registers, the frames of a walk would exceed 512 bytes together. */
static __noinline __u64 hash_key(const struct sample_key *key)
{
	const __u64 *words = (const __u64 *)key;
	__u64 hash = 0;
	int i;

	if (!key)
		return 0;
	for (i = 0; i < KEY_WORDS; i++)
		hash = mix(hash, words[i]);
	return hash;
}

static __always_inline bool is_same_key(const struct sample_key *a, const struct sample_key *b)
{
	const __u64 *p = (const __u64 *)a, *q = (const __u64 *)b;
	__u64 differ = 0;
	int i;

	for (i = 0; i < KEY_WORDS; i++)
		differ |= p[i] ^ q[i];
	return !differ;
}

/* Adds to the count of the key if it was counted in this round before. If not, returns false, and
 * in *@ret a free slot if there is one. */
static __always_inline bool count_known(struct run *run, __u32 round, __u32 first,
					struct key_slot **ret)
{
	__u32 hash = (__u32)(hash_key(&run->scratch->key) >> 32);
	int i;

	for (i = 0; i < KEY_PROBES; i++) {
		__u32 at = run->place * config.key_slots + ((hash + i) & (config.key_slots - 1));
		struct key_slot *slot = bpf_map_lookup_elem(&key_slots, &at);
		struct sample_count *c;

		if (!slot)
			return false;
		if (slot->round != round) {
			*ret = slot;
			return false;
		}
		at = first + slot->at;
		c = bpf_map_lookup_elem(&counts, &at);
		if (c && is_same_key(&c->key, &run->scratch->key)) {
			c->count += run->weight;
			return true;
		}
	}
	return false;
}

/* Counts the key in this round. If no slot near its own is free, the key is stored without one,
 * each time; the reader adds them up. */
static __always_inline void count_key(struct run *run, __u32 round)
{
	__u32 odd = round & 1, first = (odd * config.places + run->place) * config.keys, used, at;
	struct key_slot *slot = NULL;
	struct sample_count *c;

	if (count_known(run, round, first, &slot))
		return;
	used = run->gate->used[odd];
	at = first + used;
	c = used < config.keys ? bpf_map_lookup_elem(&counts, &at) : NULL;
	if (!c) {
		run->totals->map_full += run->loss;
		return;
	}
	c->key = run->scratch->key;
	c->count = run->weight;
	if (slot)
		*slot = (struct key_slot){ round, used };
	run->gate->used[odd] = used + 1;
	if (used == config.wake_at)
		wake(run->slot);
}

static __always_inline bool in_memory(const struct run *run)
{
	__u32 place = run->scratch->key.place;

	return run->scratch->memory || place == SAMPLE_ANON || place == SAMPLE_HEAP ||
	       place == SAMPLE_STACK;
}

/* Adds the run's weight to the count of its key. */
static __always_inline void count(struct run *run)
{
	volatile __u32 *memory = &control.memory;

	count_key(run, *(volatile __u32 *)&control.round);
	/* Set after counting: the reader clears it before it begins another round. */
	if (in_memory(run) && !*memory)
		*memory = 1;
}
