/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/moved_lines.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/sequence.h"
#include "profile/annotate/internal/source_function.h"
#include "profile/binary/sources.h"

#include <stdlib.h>
#include <string.h>

struct moved_lines {
	struct map places; /* old line: new line */
	bool stayed;
};

/* The old lines, by function and line, and those of the source that is there. */
struct search {
	const struct old_line *old;
	const struct sourcetext *text;
	uint32_t *now; /* hash of each line */
	size_t now_count;
	size_t *found; /* of each old line: line from 1; 0: none */
};

/* Parts of both: lines from their first up to, but without, their last. */
struct parts {
	size_t old, old_end, now, now_end;
};

static int compare_old(const void *pa, const void *pb)
{
	const struct old_line *a = pa, *b = pb;
	int r = strcmp(a->function ?: "", b->function ?: "");

	return r ? r : (a->line > b->line) - (a->line < b->line);
}

static void hash_lines(struct search *s)
{
	size_t room = 0, size;
	const char *line;

	while (sourcetext_line(s->text, s->now_count + 1, &line, &size)) {
		array_grow(&s->now, s->now_count + 1, &room);
		s->now[s->now_count++] = (uint32_t)source_line_hash(line, size) ?: 1;
	}
}

static bool have_stayed(const struct search *s, size_t count)
{
	size_t i, known = 0;

	for (i = 0; i < count; i++) {
		const struct old_line *old = &s->old[i];

		if (!old->text)
			continue;
		if (old->line > s->now_count || s->now[old->line - 1] != old->text)
			return false;
		known++;
	}
	return known > 0;
}

/* --- matching --- */

enum { NOW_ONCE = 1 << 16, TEXTS_MAX = NOW_ONCE - 1 }; /* of a text */

/* How often each text occurs in the parts: in the old one, and NOW_ONCE times how often now. */
static struct map count_texts(const struct search *s, struct parts p)
{
	struct map counts = MAP_INIT;
	uintptr_t n;
	size_t i;

	for (i = p.old; i < p.old_end; i++) {
		n = (uintptr_t)map_get(&counts, s->old[i].text);
		if (s->old[i].text)
			(void)map_set(&counts, s->old[i].text,
				      (void *)MIN(n + 1, (uintptr_t)TEXTS_MAX));
	}
	for (i = p.now; i < p.now_end; i++) {
		n = (uintptr_t)map_get(&counts, s->now[i]);
		if (n && n < NOW_ONCE * (uintptr_t)TEXTS_MAX)
			(void)map_set(&counts, s->now[i], (void *)(n + NOW_ONCE));
	}
	return counts;
}

/* Places of texts that both parts have once, and the texts. */
struct singles {
	size_t *at;
	uint64_t *texts;
	size_t count;
};

static void add_single(struct singles *s, const struct map *counts, size_t at, uint32_t text)
{
	if (!text || (uintptr_t)map_get(counts, text) != NOW_ONCE + 1)
		return;
	s->at[s->count] = at;
	s->texts[s->count++] = text;
}

static struct singles singles_new(size_t room)
{
	return (struct singles){ xcalloc(room + 1, sizeof(size_t)),
				 xcalloc(room + 1, sizeof(uint64_t)), 0 };
}

static void singles_done(struct singles *s)
{
	free(s->at);
	free(s->texts);
}

/* Finds texts that occur once in both parts, in order. Returns whether there is one. */
static bool find_singles(struct search *s, struct parts p)
{
	struct singles old = singles_new(p.old_end - p.old), now = singles_new(p.now_end - p.now);
	struct map counts = count_texts(s, p);
	uint32_t *partners;
	bool is_any = false;
	size_t i;

	for (i = p.old; i < p.old_end; i++)
		add_single(&old, &counts, i, s->old[i].text);
	for (i = p.now; i < p.now_end; i++)
		add_single(&now, &counts, i, s->now[i]);
	partners = sequence_match((struct sequence){ old.texts, old.count },
				  (struct sequence){ now.texts, now.count });
	for (i = 0; i < old.count; i++) {
		if (partners[i] == SEQUENCE_NONE)
			continue;
		s->found[old.at[i]] = now.at[partners[i]] + 1;
		is_any = true;
	}
	free(partners);
	map_done(&counts);
	singles_done(&old);
	singles_done(&now);
	return is_any;
}

/* Whether old line number @i may be at the line @at, from 1, of the part. */
static bool fits(const struct search *s, struct parts p, size_t i, size_t at)
{
	return at > p.now && at <= p.now_end && s->now[at - 1] == s->old[i].text;
}

/* Finds lines that follow the one before the part, or precede that after it, as they did. */
static void find_neighbours(struct search *s, struct parts p, bool has_before, bool has_after)
{
	size_t i, at;

	for (i = p.old; has_before && i < p.old_end; i++) {
		at = s->found[p.old - 1] + (s->old[i].line - s->old[p.old - 1].line);
		if (s->old[i].text && !fits(s, p, i, at))
			break;
		s->found[i] = s->old[i].text ? at : 0;
	}
	for (i = p.old_end; has_after && i-- > p.old;) {
		const unsigned int distance = s->old[p.old_end].line - s->old[i].line;

		at = s->found[p.old_end] > distance ? s->found[p.old_end] - distance : 0;
		if (s->old[i].text && !fits(s, p, i, at))
			break;
		if (s->found[i] && s->found[i] != at)
			at = 0; /* one as well as the other */
		s->found[i] = s->old[i].text ? at : 0;
	}
}

/* Finds the lines of the old part. The flags: the lines before and after it were found. */
static void find_part(struct search *s, struct parts p, bool has_before, bool has_after)
{
	struct parts gap = { p.old, p.old, p.now, p.now };
	size_t i;

	if (p.old >= p.old_end || p.now >= p.now_end)
		return;
	if (!find_singles(s, p)) {
		find_neighbours(s, p, has_before, has_after);
		return;
	}
	for (i = p.old; i < p.old_end; i++) {
		if (!s->found[i])
			continue;
		gap.old_end = i;
		gap.now_end = s->found[i] - 1;
		find_part(s, gap, gap.old > p.old || has_before, true);
		gap.old = i + 1;
		gap.now = s->found[i];
	}
	gap.old_end = p.old_end;
	gap.now_end = p.now_end;
	find_part(s, gap, true, has_after);
}

/* --- functions --- */

/* How many of the old lines' texts are in the part. */
static size_t count_common(const struct search *s, struct parts p)
{
	struct map counts = count_texts(s, p);
	size_t n = 0;

	map_for_each (&counts, slot)
		n += (uintptr_t)slot->value >= NOW_ONCE;
	map_done(&counts);
	return n;
}

/* Finds where a function is now: what its name is before that has most of its texts; of a block in
 * another, the inner one. Returns whether one has. */
static bool find_function(const struct search *s, const char *word, struct parts *p)
{
	struct source_extent e = { 0 };
	size_t most = 0, n;
	bool is_clear = false;

	while (source_function_next(s->text, word, &e)) {
		struct parts here = { p->old, p->old_end, e.first - 1, e.last };

		n = count_common(s, here);
		if (n < most || n == 0)
			continue;
		is_clear = n > most || (here.now >= p->now && here.now_end <= p->now_end);
		*p = here;
		most = n;
	}
	return is_clear;
}

static void find_lines(struct search *s, size_t count)
{
	struct parts p = { 0 };

	for (; p.old < count; p.old = p.old_end) {
		const char *function = s->old[p.old].function;
		_cleanup_free_ char *word = function ? source_function_word(function) : NULL;

		for (p.old_end = p.old + 1; p.old_end < count; p.old_end++)
			if (strcmp(s->old[p.old_end].function ?: "", function ?: "") != 0)
				break;
		if (word && find_function(s, word, &p))
			find_part(s, p, false, false);
	}
}

/* Keeps places that only one old line may have. */
static void keep_places(struct moved_lines *m, const struct search *s, size_t count)
{
	_cleanup_free_ uint32_t *claims = xcalloc(s->now_count + 1, sizeof(*claims));
	size_t i;

	for (i = 0; i < count; i++)
		claims[s->found[i]]++;
	for (i = 0; i < count; i++)
		if (s->found[i] && claims[s->found[i]] == 1)
			(void)map_set(&m->places, s->old[i].line, (void *)s->found[i]);
}

struct moved_lines *moved_lines_new(struct old_line *old, size_t count,
				    const struct sourcetext *text)
{
	struct moved_lines *m = xcalloc(1, sizeof(*m));
	_cleanup_free_ size_t *found = xcalloc(count + 1, sizeof(*found));
	struct search s = { .old = old, .text = text, .found = found };
	size_t i;

	if (count)
		qsort(old, count, sizeof(*old), compare_old);
	hash_lines(&s);
	m->stayed = have_stayed(&s, count);
	for (i = 0; m->stayed && i < count; i++)
		found[i] = old[i].text ? old[i].line : 0;
	if (!m->stayed)
		find_lines(&s, count);
	keep_places(m, &s, count);
	free(s.now);
	return m;
}

void moved_lines_free(struct moved_lines *m)
{
	if (!m)
		return;
	map_done(&m->places);
	free(m);
}

unsigned int moved_lines_find(const struct moved_lines *m, unsigned int line)
{
	return (unsigned int)(uintptr_t)map_get(&m->places, line);
}

bool moved_lines_stayed(const struct moved_lines *m)
{
	return m->stayed;
}
