/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/optop/rowsum.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct count {
	uint32_t row;
	uint64_t self, total;
};

struct stretch {
	struct rowsum_facts facts;
	struct count *counts;
	size_t count, room;
};

/* A row and its sums; ->text is its name and image as fields of a line. */
struct sum {
	char *text;
	uint64_t self, total;
};

struct rowsum {
	struct map by_hash; /* of the text: index + 1 */
	struct sum *sums;
	size_t sum_count, sum_room;
	struct stretch *stretches; /* the oldest first */
	size_t stretch_count, stretch_room;
	struct stretch next; /* not ended yet */
};

struct rowsum *rowsum_new(void)
{
	return xcalloc(1, sizeof(struct rowsum));
}

void rowsum_clear(struct rowsum *t)
{
	size_t i;

	for (i = 0; i < t->sum_count; i++)
		free(t->sums[i].text);
	for (i = 0; i < t->stretch_count; i++)
		free(t->stretches[i].counts);
	free(t->sums);
	free(t->stretches);
	free(t->next.counts);
	map_done(&t->by_hash);
	*t = (struct rowsum){ 0 };
}

void rowsum_free(struct rowsum *t)
{
	if (!t)
		return;
	rowsum_clear(t);
	free(t);
}

static uint32_t row_of(struct rowsum *t, const char *name, const char *image)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	uintptr_t known;
	uint64_t hash;

	text_add_field(&text, name);
	strbuf_adds(&text, "\t");
	text_add_field(&text, image);
	hash = hash_bytes(strbuf_text(&text), text.length);
	map_for_each_of(&t->by_hash, hash, known)
	{
		if (!strcmp(t->sums[known - 1].text, strbuf_text(&text)))
			return (uint32_t)known - 1;
	}
	array_grow(&t->sums, t->sum_count + 1, &t->sum_room);
	t->sums[t->sum_count++] = (struct sum){ .text = strbuf_take(&text) };
	map_add(&t->by_hash, hash, (void *)(uintptr_t)t->sum_count);
	return (uint32_t)t->sum_count - 1;
}

static void add_count(struct stretch *s, const struct count *count)
{
	array_grow(&s->counts, s->count + 1, &s->room);
	s->counts[s->count++] = *count;
}

void rowsum_add(struct rowsum *t, const char *name, const char *image, uint64_t self,
		uint64_t total)
{
	if (self || total)
		add_count(&t->next, &(struct count){ row_of(t, name, image), self, total });
}

static void add_facts(struct rowsum_facts *to, const struct rowsum_facts *facts)
{
#define X(name) to->name += facts->name;
	ROWSUM_FACTS(X)
#undef X
	to->end_ms = facts->end_ms;
}

static int by_row(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	return (x->row > y->row) - (x->row < y->row);
}

/* Makes one count of those of the same row. */
static void join_counts(struct stretch *s)
{
	size_t i, kept = 0;

	if (s->count)
		qsort(s->counts, s->count, sizeof(*s->counts), by_row);
	for (i = 0; i < s->count; i++) {
		if (kept && s->counts[kept - 1].row == s->counts[i].row) {
			s->counts[kept - 1].self += s->counts[i].self;
			s->counts[kept - 1].total += s->counts[i].total;
		} else {
			s->counts[kept++] = s->counts[i];
		}
	}
	s->count = kept;
}

void rowsum_end(struct rowsum *t, const struct rowsum_facts *facts, int64_t grain_ms)
{
	struct stretch *last = t->stretch_count ? &t->stretches[t->stretch_count - 1] : NULL;
	size_t i;

	t->next.facts = *facts;
	for (i = 0; i < t->next.count; i++) {
		t->sums[t->next.counts[i].row].self += t->next.counts[i].self;
		t->sums[t->next.counts[i].row].total += t->next.counts[i].total;
	}
	if (last && facts->end_ms - last->facts.begin_ms <= grain_ms) {
		for (i = 0; i < t->next.count; i++)
			add_count(last, &t->next.counts[i]);
		join_counts(last);
		add_facts(&last->facts, facts);
		free(t->next.counts);
	} else {
		array_grow(&t->stretches, t->stretch_count + 1, &t->stretch_room);
		t->stretches[t->stretch_count++] = t->next;
	}
	t->next = (struct stretch){ 0 };
}

static void subtract(struct rowsum *t, const struct stretch *s)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		t->sums[s->counts[i].row].self -= s->counts[i].self;
		t->sums[s->counts[i].row].total -= s->counts[i].total;
	}
}

void rowsum_drop(struct rowsum *t, int64_t before_ms)
{
	size_t old = 0;

	for (; old < t->stretch_count && t->stretches[old].facts.end_ms <= before_ms; old++) {
		subtract(t, &t->stretches[old]);
		free(t->stretches[old].counts);
	}
	if (!old)
		return;
	t->stretch_count -= old;
	memmove(t->stretches, t->stretches + old, t->stretch_count * sizeof(*t->stretches));
}

size_t rowsum_names(const struct rowsum *t)
{
	return t->sum_count;
}

struct rowsum_facts rowsum_facts(const struct rowsum *t)
{
	struct rowsum_facts sum = { 0 };
	size_t i;

	for (i = 0; i < t->stretch_count; i++)
		add_facts(&sum, &t->stretches[i].facts);
	if (t->stretch_count)
		sum.begin_ms = t->stretches[0].facts.begin_ms;
	return sum;
}

/* Adds the line of a row; there are thousands for each answer. */
static void add_line(struct strbuf *out, const struct sum *sum)
{
	strbuf_adds(out, "row\t");
	strbuf_addu(out, sum->self);
	strbuf_adds(out, "\t");
	strbuf_addu(out, sum->total);
	strbuf_adds(out, "\t");
	strbuf_adds(out, sum->text);
	strbuf_adds(out, "\n");
}

void rowsum_print(const struct rowsum *t, FILE *out)
{
	const struct rowsum_facts facts = rowsum_facts(t);
	_cleanup_(strbuf_done) struct strbuf rows = STRBUF_INIT;
	size_t i;

	if (facts.begin_ms < facts.end_ms && facts.begin_ms > 0)
		(void)fprintf(out, "fact\tbegin_ms\t%" PRId64 "\nfact\tend_ms\t%" PRId64 "\n",
			      facts.begin_ms, facts.end_ms);
#define X(name) (void)fprintf(out, "fact\t" #name "\t%" PRIu64 "\n", facts.name);
	ROWSUM_FACTS(X)
#undef X
	for (i = 0; i < t->sum_count; i++)
		if (t->sums[i].self || t->sums[i].total)
			add_line(&rows, &t->sums[i]);
	(void)fwrite(strbuf_text(&rows), 1, rows.length, out);
}
