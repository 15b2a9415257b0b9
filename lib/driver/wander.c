/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/wander.h"

#include "base/hash.h"
#include "base/macro.h"

/* Fewer samples are lost at changes than 1 in so many, twice. */
static const double samples_least = 200;
#define FIRST_NS 900000000ULL
#define MOST_NS	 8000000000ULL

static void choose(struct wander *w)
{
	double part;

	w->chance = hash_u64(w->chance + 1);
	part = (double)(w->chance >> 11) / (double)(1ULL << 53);
	w->offset = (WANDER_LEAST + part * (WANDER_MOST - WANDER_LEAST)) / 100;
	if (w->chance & 1)
		w->offset = -w->offset;
}

void wander_init(struct wander *w, uint64_t chance)
{
	*w = (struct wander){ .chance = chance, .least_ns = FIRST_NS };
	choose(w);
	w->factor = 1 / (1 + w->offset);
}

bool wander_is_due(const struct wander *w, uint64_t now_ns, double samples)
{
	return now_ns >= w->since_ns + w->least_ns && samples >= samples_least;
}

void wander_change(struct wander *w, uint64_t now_ns, double samples)
{
	if (w->is_second) {
		choose(w);
		w->least_ns = MIN(2 * w->least_ns, MOST_NS);
	} else {
		w->offset = -w->offset;
	}
	w->is_second = !w->is_second;
	w->since_ns = now_ns;
	w->factor = 1 / ((1 + w->offset) * (1 + 0.5 / samples));
}
