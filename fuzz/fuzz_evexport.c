/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of a stream, cut at the length in the first byte: a read never exceeds its buffer, begins
 * with its context, and ends. */
#include "fuzz.h"

#include "stream/evbuf.h"
#include "oprofilefs/evexport.h"

#include <string.h>

enum { READS_MAX = 64, ROOM = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct evexport_config config = { .counters = { 0, 1 }, .counter_count = 2 };
	_cleanup_(evexport_freep) struct evexport *e = evexport_new(&config);
	size_t cut, room, n, reads, count;
	uint64_t words[64], out[ROOM];

	if (!size)
		return 0;
	cut = data[0] % 64 + 1;
	room = EVEXPORT_READ_MIN + data[0] % (ROOM - EVEXPORT_READ_MIN);
	for (data++, size--; size >= sizeof(*words); data += n, size -= n) {
		n = MIN(cut * sizeof(*words), size / sizeof(*words) * sizeof(*words));
		memcpy(words, data, n);
		evexport_put(e, words, n / sizeof(*words));
		/* A weight may be endless. */
		for (reads = 0; reads < READS_MAX; reads++) {
			evexport_restart(e);
			count = evexport_take(e, out, room);
			if (count > room || (count && out[0] != EVBUF_ESCAPE))
				abort();
			if (!count)
				break;
		}
	}
	return 0;
}
