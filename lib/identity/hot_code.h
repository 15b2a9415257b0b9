/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the samples of the last seconds are: the images with the most of them, and the places in
 * each with the most. It has a fixed size: when it is full, new places are left out, as they can
 * hardly be the hottest.
 *
 *	hot_code_count(&h, cookie, offset, 1);
 *	hot_code_take(&h, take, data);		now and then
 *	hot_code_done(&h);
 */
#pragma once

#include "base/hash.h"

#include <stddef.h>
#include <stdint.h>

struct parser_places;

struct hot_code_entry {
	uint64_t cookie, offset, count; /* ->count is 0: the entry is free */
};

enum { HOT_CODE_SLOTS = 8192, HOT_CODE_MAX = HOT_CODE_SLOTS / 4 * 3 };

/* The caller embeds it, zeroed at first. */
struct hot_code {
	struct hot_code_entry *slots; /* HOT_CODE_SLOTS of them; NULL: nothing was counted */
	size_t used;
};

/* Makes the slots. */
void hot_code_begin(struct hot_code *h);

/* Adds @count at @offset of the image @cookie. */
static inline void hot_code_count(struct hot_code *h, uint64_t cookie, uint64_t offset,
				  uint64_t count)
{
	struct hot_code_entry *e;
	size_t i = hash_add(cookie, offset) % HOT_CODE_SLOTS;

	if (!h->slots)
		hot_code_begin(h);
	for (;; i = (i + 1) % HOT_CODE_SLOTS) {
		e = &h->slots[i];
		if (!e->count)
			break;
		if (e->cookie != cookie || e->offset != offset)
			continue;
		e->count += count;
		return;
	}
	if (h->used == HOT_CODE_MAX || !count)
		return;
	*e = (struct hot_code_entry){ cookie, offset, count };
	h->used++;
}

/* Calls @take with the hottest places of each of the hottest images, and forgets all. */
void hot_code_take(struct hot_code *h,
		   void (*take)(void *data, uint64_t cookie, const struct parser_places *hottest),
		   void *data);
/* Frees all; a zeroed one is fine. */
void hot_code_done(struct hot_code *h);
