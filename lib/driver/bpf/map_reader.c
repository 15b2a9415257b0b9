/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/map_reader.h"

#include <bpf/bpf.h>

uint32_t map_reader_next(struct map_reader *r, void *keys, void *values, uint32_t room)
{
	uint32_t count = room;

	if (r->ended)
		return 0;
	/* An error ends it, too: ENOENT, at the end of the map, comes with the last entries. */
	r->ended = bpf_map_lookup_batch(r->map, r->begun ? &r->place : NULL, &r->place, keys,
					values, &count, NULL) < 0;
	r->begun = true;
	return count <= room ? count : 0;
}
