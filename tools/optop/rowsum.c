/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/optop/rowsum.h"

#include "base/hash.h"
#include "base/macro.h"
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

/* --- printing --- */

/* Whether @a is before @b in the order. */
static bool is_before(const struct sum *a, const struct sum *b, enum answer_order order)
{
	uint64_t x = order == ANSWER_TOTAL ? a->total : a->self;
	uint64_t y = order == ANSWER_TOTAL ? b->total : b->self;

	return order == ANSWER_NAME || x == y ? strcmp(a->text, b->text) < 0 : x > y;
}

/* Lets the row at @at sink in a heap, which has the last row in the order at its top. */
static void sink(const struct sum **heap, size_t count, size_t at, enum answer_order order)
{
	size_t child;

	while ((child = 2 * at + 1) < count) {
		const struct sum *row = heap[at];

		if (child + 1 < count && is_before(heap[child], heap[child + 1], order))
			child++;
		if (!is_before(row, heap[child], order))
			break;
		heap[at] = heap[child];
		heap[child] = row;
		at = child;
	}
}

static void make_heap(const struct sum **rows, size_t count, enum answer_order order)
{
	size_t i;

	for (i = count / 2; i-- > 0;)
		sink(rows, count, i, order);
}

/* Keeps the row if it is one of the first @limit: a heap, as soon as there are so many. */
static size_t keep_first(const struct sum **heap, size_t count, const struct sum *row, size_t limit,
			 enum answer_order order)
{
	if (count < limit) {
		heap[count++] = row;
		if (count == limit)
			make_heap(heap, count, order);
	} else if (count && is_before(row, heap[0], order)) {
		heap[0] = row;
		sink(heap, count, 0, order);
	}
	return count;
}

static void sort_heap(const struct sum **heap, size_t count, enum answer_order order)
{
	while (count-- > 1) {
		const struct sum *last = heap[0];

		heap[0] = heap[count];
		heap[count] = last;
		sink(heap, count, 0, order);
	}
}

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

static void add_fact(struct strbuf *out, const char *name, uint64_t value)
{
	strbuf_addf(out, "fact\t%s\t%" PRIu64 "\n", name, value);
}

static void add_rows(const struct rowsum *t, const struct rowsum_choice *choice, struct strbuf *out)
{
	size_t limit = MIN(choice->limit, t->sum_count), count = 0, i;
	_cleanup_free_ const struct sum **first = xcalloc(limit + 1, sizeof(*first));
	uint64_t matching = 0, matching_self = 0;

	for (i = 0; i < t->sum_count; i++) {
		const struct sum *row = &t->sums[i];

		if ((!row->self && !row->total) ||
		    (choice->search && !strcasestr(row->text, choice->search)))
			continue;
		matching++;
		matching_self += row->self;
		count = keep_first(first, count, row, limit, choice->order);
	}
	if (count < limit)
		make_heap(first, count, choice->order);
	sort_heap(first, count, choice->order);
	add_fact(out, "matching", matching);
	add_fact(out, "matching_self", matching_self);
	for (i = 0; i < count; i++)
		add_line(out, first[i]);
}

void rowsum_print(const struct rowsum *t, const struct rowsum_choice *choice, FILE *out)
{
	const struct rowsum_facts facts = rowsum_facts(t);
	_cleanup_(strbuf_done) struct strbuf lines = STRBUF_INIT;

	if (facts.begin_ms < facts.end_ms && facts.begin_ms > 0) {
		add_fact(&lines, "begin_ms", (uint64_t)facts.begin_ms);
		add_fact(&lines, "end_ms", (uint64_t)facts.end_ms);
	}
#define X(name) add_fact(&lines, #name, facts.name);
	ROWSUM_FACTS(X)
#undef X
	add_rows(t, choice, &lines);
	(void)fwrite(strbuf_text(&lines), 1, lines.length, out);
}
