/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/sideband.h"

#include "base/macro.h"
#include "base/map.h"
#include "identity/cookie.h"
#include "process/maps.h"

static void note_use(struct map *in_use, uint64_t cookie, struct process *by)
{
	if (cookie)
		(void)map_set(in_use, cookie, by);
}

void sideband_sweep(struct sideband *s)
{
	struct map in_use = MAP_INIT;
	const struct mapping *m;

	if (cookie_count(s->from.cookies) <= s->cookie_limit)
		return;
	map_for_each (&s->processes.by_tgid, slot) {
		struct process *p = slot->value;

		note_use(&in_use, p->app, p);
		for (m = p->maps ? maps_next(p->maps, 0) : NULL; m; m = maps_next(p->maps, m->end))
			note_use(&in_use, m->cookie, p);
	}
	process_reader_restart(s->reader);
	s->stats->images_swept += cookie_sweep(s->from.cookies, &in_use);
	cookie_age(s->from.cookies);
	s->processes.changes++; /* what was looked up before may have a cookie that is gone */
	map_done(&in_use);
	s->cookie_limit = MAX(2 * cookie_count(s->from.cookies), (size_t)SIDEBAND_COOKIES_MIN);
}
