/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines kept of sampled files, from any source: lib/dwarf/internal/kept_lines_pack.c. The input is
 * compressed first, to reach the code for the contents, and is also used as it is. */
#include "fuzz.h"

#include "base/mem.h"
#include "dwarf/kept_lines.h"
#include "dwarf/lines.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Merges the table with nothing, which leaves it as it is, and looks for its calls. */
static void look_up(struct kept_lines *l)
{
	_cleanup_(kept_lines_done) struct kept_lines all = { 0 }, none = { 0 };
	_cleanup_(lines_freep) struct lines *lines = NULL;
	const struct lines_call *calls = NULL;
	size_t i, n;

	if (l->count < 1000 && l->call_count < 100)
		kept_lines_merge(l, &none, &all);
	if (all.count > l->count)
		abort();
	lines = lines_new_kept(l);
	for (i = 0; i < all.count; i++)
		for (n = lines_inlines(lines, all.list[i].address, &calls); n--;)
			if (strlen(calls[n].function) > (size_t)KEPT_LINES_PLAIN_MAX)
				abort();
}

static void try_bytes(const void *bytes, size_t size)
{
	_cleanup_(kept_lines_done) struct kept_lines l = { 0 };
	uint64_t address = 0;
	size_t i;

	if (kept_lines_unpack(bytes, size, &l) < 0)
		return;
	for (i = 0; i < l.count; i++) {
		const struct kept_line *row = &l.list[i], *at = kept_lines_find(&l, row->address);

		if ((i && row->address <= address) || ((row->line || row->call) && at != row) ||
		    (row->line && strlen(l.files[at->file]) > size + (size_t)KEPT_LINES_PLAIN_MAX))
			abort();
		address = row->address;
	}
	look_up(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = ZSTD_compressBound(size);
	_cleanup_free_ char *compressed = xmalloc(room);

	try_bytes(data, size);
	room = ZSTD_compress(compressed, room, data, size, 1);
	if (!ZSTD_isError(room))
		try_bytes(compressed, room);
	return 0;
}
