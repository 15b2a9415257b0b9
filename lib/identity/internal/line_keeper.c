/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/internal/line_keeper.h"

#include "base/clock.h"
#include "base/keyed_hash.h"
#include "base/macro.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/span.h"
#include "identity/cookie_image.h"
#include "identity/opener.h"
#include "parser/parser_places.h"
#include "symbol/function_file.h"
#include "symbol/function_store.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	FILES_MAX = 4096, /* that are known; then all are forgotten */
	PAUSE = 100,	  /* times as long as the last file took: nothing is read, */
	PAUSE_MAX_S = 5,  /* but no longer: on a busy machine all takes long */
	RETRY_S = 30,	  /* when a file that could not be read is tried again */
};
/* After so long a file is read again: what was kept of it may be gone. */
#define FORGET_NS (6 * 3600 * NS_PER_S)

/* Code of a file that was read, offsets in it. */
struct range {
	uint64_t start, end;
};

/* What is known of a file. */
struct known {
	uint64_t since_ns, next_ns; /* when it was new; it is not read before */
	bool has_none;		    /* no lines */
	bool was_put;		    /* lines that were read are kept */
	struct range *ranges;	    /* sorted */
	size_t range_count;
	struct parser_places places; /* that were read: they are read again with new ones */
};

struct line_keeper {
	struct map files; /* struct known by the hash of the key */
	struct keyed_hash hash;
	uint64_t next_ns; /* nothing is read before */
};

struct line_keeper *line_keeper_new(void)
{
	struct line_keeper *k = xcalloc(1, sizeof(*k));

	k->hash = keyed_hash_new();
	return k;
}

static void forget_all(struct line_keeper *k)
{
	map_for_each (&k->files, slot) {
		struct known *file = slot->value;

		free(file->ranges);
		free(file);
	}
	map_done(&k->files);
}

void line_keeper_free(struct line_keeper *k)
{
	if (!k)
		return;
	forget_all(k);
	free(k);
}

static struct known *know(struct line_keeper *k, const char *key, uint64_t now_ns)
{
	uint64_t hash = keyed_hash_of(&k->hash, key, strlen(key));
	struct known *file = map_get(&k->files, hash);

	if (!file) {
		if (k->files.count >= FILES_MAX)
			forget_all(k);
		file = xcalloc(1, sizeof(*file));
		file->since_ns = now_ns;
		(void)map_set(&k->files, hash, file);
	}
	if (now_ns - file->since_ns > FORGET_NS) {
		file->since_ns = now_ns;
		file->range_count = 0;
		file->has_none = false;
	}
	return file;
}

/* Whether the code at @offset was read. */
static bool is_read(const struct known *file, uint64_t offset)
{
	size_t at = FIRST_NOT(i, 0, file->range_count, file->ranges[i].end <= offset);

	return at < file->range_count && file->ranges[at].start <= offset;
}

/* Adds the places of @hottest that were not read to @places, as far as there is room. Returns
 * whether there are any. */
static bool add_unread(const struct known *file, const struct parser_places *hottest,
		       struct parser_places *places)
{
	bool is_any = false;
	uint32_t i;

	for (i = 0; i < hottest->count; i++) {
		if (is_read(file, hottest->offsets[i]))
			continue;
		is_any = true;
		if (places->count < PARSER_PLACES_MAX)
			places->offsets[places->count++] = hottest->offsets[i];
	}
	return is_any;
}

/* Keeps one place of each function that was read, and drops its others to make room. */
static void thin(struct known *file)
{
	uint32_t i, n = 0;
	size_t j = 0;

	for (j = 0; j < file->range_count; j++)
		for (i = n; i < file->places.count; i++) {
			const uint64_t offset = file->places.offsets[i];

			if (offset < file->ranges[j].start || offset >= file->ranges[j].end)
				continue;
			file->places.offsets[i] = file->places.offsets[n];
			file->places.offsets[n++] = offset;
			break;
		}
	file->places.count = n;
}

static int compare_ranges(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	return (a->start > b->start) - (a->start < b->start);
}

/* Notes which code the answer is about, and cuts that off. 0 or -EBADMSG. */
static int take_ranges(struct known *file, struct span *answer, bool *ret_is_cut)
{
	struct range *ranges = NULL;
	uint32_t count, i, is_cut;

	if (span_u32(answer, &count) < 0 || span_u32(answer, &is_cut) < 0 || !count ||
	    count > answer->left / sizeof(*ranges))
		return -EBADMSG;
	*ret_is_cut = is_cut;
	ranges = xcalloc(count + 1, sizeof(*ranges));
	(void)span_copy(answer, ranges, count * sizeof(*ranges));
	qsort(ranges, count, sizeof(*ranges), compare_ranges);
	for (i = 1; i < count; i++)
		ranges[i - 1].end = MIN(ranges[i - 1].end, ranges[i].start);
	free(file->ranges);
	file->ranges = ranges;
	file->range_count = count;
	return 0;
}

/* Keeps what was read of the functions at @places. */
static int settle(struct known *file, struct function_store *store, const char *key,
		  const struct parser_places *places, const struct function_table *table)
{
	struct function_table lines = { .owner = table->owner };
	struct span answer = span_of(table->bytes, table->size);
	bool is_cut = false;
	int r = take_ranges(file, &answer, &is_cut);

	if (r < 0)
		return r;
	file->places = *places;
	thin(file);
	lines.bytes = answer.at;
	lines.size = answer.left;
	/* Functions without lines. */
	if (!lines.size)
		return 0;
	r = function_store_put_lines(store, key, file->was_put, &lines);
	file->was_put = file->was_put || r == 0;
	/* The table of a file that will still be there is read later. */
	if (r < 0)
		file->range_count = 0;
	return r == 0 && is_cut ? -EAGAIN : r;
}

void line_keeper_keep(struct line_keeper *k, struct function_store *store, struct opener *opener,
		      const struct line_question *q)
{
	const uint64_t begin_ns = clock_now_ns();
	uint64_t end_ns, pause_ns;
	struct function_table table = { 0 };
	struct parser_places places;
	char key[FUNCTION_KEY];
	struct known *file;
	int r;

	if (!q->image->verified || !function_key(&q->image->file, &q->image->version, key))
		return;
	file = know(k, key, begin_ns);
	places = file->places;
	if (file->has_none || !add_unread(file, q->hottest, &places))
		return;
	if (begin_ns < MAX(k->next_ns, file->next_ns) || places.count == file->places.count) {
		function_store_count_lines(store, -EAGAIN);
		return;
	}
	r = opener_lines(opener, q->image, q->where, &places, &table);
	if (r == 0)
		r = settle(file, store, key, &places, &table);
	free((void *)table.bytes);
	/* One that takes the parser too long, or ends it, does so again. */
	file->has_none = r == -ENODATA || r == -EFBIG || r == -ETIME || r == -EPIPE;
	function_store_count_lines(store, r);
	end_ns = clock_now_ns();
	pause_ns = (end_ns - begin_ns) * PAUSE;
	/* All of this file is read again for a function more. */
	file->next_ns = end_ns + MAX(pause_ns, r < 0 ? RETRY_S * (uint64_t)NS_PER_S : 0);
	k->next_ns = end_ns + MIN(pause_ns, PAUSE_MAX_S * (uint64_t)NS_PER_S);
}
