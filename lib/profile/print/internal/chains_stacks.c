/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/internal/chains_stacks.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "profile/print/internal/chains_lists.h"
#include "profile/print/report.h"
#include "profile/rows/chains.h"
#include "profile/rows/code_kind.h"
#include "profile/select/gather.h"

#include <stdlib.h>
#include <string.h>

/* --- parts of stacks --- */

void chains_stacks_end_part(struct strbuf *b, size_t from)
{
	char *at;

	for (at = b->text + from; b->text && *at; at++)
		if (*at == ';')
			*at = ':';
}

void chains_stacks_add_app(struct strbuf *b, const struct report *r, uint32_t app)
{
	size_t from = b->length;

	text_visible(b, report_image(r, app));
	chains_stacks_end_part(b, from);
}

void chains_stacks_add_function(struct strbuf *b, const struct report *r, const struct row *row)
{
	size_t from = b->length;

	if (row->kind == ROW_SYMBOL)
		text_visible(b, row->text);
	else
		chains_add_bracketed(b, r, row->image);
	chains_stacks_end_part(b, from);
	strbuf_adds(b, code_kind_mark(r->gather, row, r->chains->is_kernel[row->image]));
}

/* --- texts --- */

/* A text, with what comes after it: nothing, where a stack ends, or a semicolon. Stacks are
 * compared as a whole, so both have a rank. */
struct part {
	char *text; /* the semicolon is its last character */
	size_t length;
	bool is_end;
	uint32_t number; /* of the text */
};

struct chains_stacks {
	const struct report *report;
	const struct call_tree *tree;
	/* The number of the text of each row, application and end, from 1 on; 0: not known. */
	uint32_t *rows, *apps, *ends;
	struct map by_hash; /* numbers of texts */
	const char **list;  /* by number */
	size_t count, room;
	struct arena arena;
	struct part *parts;	/* by rank */
	uint32_t *last, *inner; /* ranks, by number */
};

void chains_stacks_free(struct chains_stacks *s)
{
	if (!s)
		return;
	free(s->rows);
	free(s->apps);
	free(s->ends);
	map_done(&s->by_hash);
	free(s->list);
	arena_done(&s->arena);
	free(s->parts);
	free(s->last);
	free(s->inner);
	free(s);
}

/* The number of a text. */
static uint32_t number_of(struct chains_stacks *s, const struct strbuf *text)
{
	uint64_t hash = hash_bytes(strbuf_text(text), text->length);
	uintptr_t number;

	map_for_each_of(&s->by_hash, hash,
			number) if (!strcmp(s->list[number],
					    strbuf_text(text))) return (uint32_t)number;
	array_grow(&s->list, s->count + 2, &s->room);
	s->list[++s->count] = arena_strdup(&s->arena, strbuf_text(text));
	map_add(&s->by_hash, hash, (void *)(uintptr_t)s->count);
	return (uint32_t)s->count;
}

/* Where the number of the text of what a node is, is kept. */
static uint32_t *known_number(const struct chains_stacks *s, uint32_t what)
{
	if (what & CHAINS_NODE_APP)
		return &s->apps[what & ~CHAINS_NODE_APP];
	return what & CHAINS_NODE_END ? &s->ends[what & ~CHAINS_NODE_END] : &s->rows[what];
}

static void name_what(struct chains_stacks *s, uint32_t what)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	const struct chains *c = s->report->chains;
	uint32_t *number = known_number(s, what);

	if (*number)
		return;
	if (what & CHAINS_NODE_APP)
		chains_stacks_add_app(&text, s->report, what & ~CHAINS_NODE_APP);
	else if (what & CHAINS_NODE_END)
		strbuf_adds(&text, c->ends[what & ~CHAINS_NODE_END].mark);
	else
		chains_stacks_add_function(&text, s->report, &c->rows.rows[what]);
	*number = number_of(s, &text);
}

static int compare_parts(const void *a, const void *b)
{
	return strcmp(((const struct part *)a)->text, ((const struct part *)b)->text);
}

/* Ranks the texts. */
static void order_texts(struct chains_stacks *s)
{
	size_t i, n = 0;

	s->parts = xcalloc(2 * s->count + 1, sizeof(*s->parts));
	s->last = xcalloc(s->count + 1, sizeof(*s->last));
	s->inner = xcalloc(s->count + 1, sizeof(*s->inner));
	for (i = 1; i <= s->count; i++) {
		size_t length = strlen(s->list[i]);
		char *end = arena_strndup(&s->arena, s->list[i], length),
		     *inner = arena_alloc(&s->arena, length + 2);

		memcpy(inner, end, length);
		memcpy(inner + length, ";", 2);
		s->parts[n++] = (struct part){ end, length, true, (uint32_t)i };
		s->parts[n++] = (struct part){ inner, length + 1, false, (uint32_t)i };
	}
	if (n)
		qsort(s->parts, n, sizeof(*s->parts), compare_parts);
	for (i = 0; i < n; i++)
		(s->parts[i].is_end ? s->last : s->inner)[s->parts[i].number] = (uint32_t)i;
}

struct chains_stacks *chains_stacks_new(const struct report *r)
{
	struct chains_stacks *s = xcalloc(1, sizeof(*s));
	const struct chains *c = r->chains;
	size_t i;

	s->report = r;
	s->tree = &c->tree;
	s->rows = xcalloc(c->rows.count + 1, sizeof(*s->rows));
	s->apps = xcalloc(r->gather->image_count + 1, sizeof(*s->apps));
	s->ends = xcalloc(c->end_count + 1, sizeof(*s->ends));
	for (i = 1; i < s->tree->count; i++)
		name_what(s, s->tree->nodes[i].what);
	order_texts(s);
	return s;
}

/* --- the order of stacks --- */

/* What comes next: the stack that ends at a node, or those that go on below it, as its rank says.
 * Several children of a node can have one text, as two functions can: they are joined. */
struct turn {
	uint32_t node, rank, depth;
	bool is_joined; /* others are in ->same */
};

struct walk {
	struct chains_stacks *stacks;
	struct turn *turns; /* the next one last */
	size_t count, room;
	struct map same; /* the next one of those that are joined, by key_of() */
	struct strbuf text;
	size_t *ends; /* of the parts in ->text, by depth */
	size_t ends_room;
};

static void add_turn(struct walk *w, uint32_t node, uint32_t rank, uint32_t depth)
{
	if (w->count == w->room)
		array_grow(&w->turns, w->count + 1, &w->room);
	w->turns[w->count++] = (struct turn){ node, rank, depth, false };
}

static uint64_t key_of(uint32_t node, bool is_end)
{
	return (uint64_t)node << 1 | is_end;
}

/* The node after @node of those that are joined with @turn; 0: there is none. */
static uint32_t next_of(const struct walk *w, const struct turn *turn, uint32_t node)
{
	if (!turn->is_joined)
		return 0;
	return (uint32_t)(uintptr_t)map_get(&w->same,
					    key_of(node, w->stacks->parts[turn->rank].is_end));
}

static int compare_turns(const void *pa, const void *pb)
{
	const struct turn *a = pa, *b = pb;

	return (a->rank < b->rank) - (a->rank > b->rank);
}

/* Most nodes have few children. */
static void sort_turns(struct turn *list, size_t count)
{
	enum { FEW = 12 };
	size_t i, k;

	if (count > FEW) {
		qsort(list, count, sizeof(*list), compare_turns);
		return;
	}
	for (i = 1; i < count; i++) {
		const struct turn moved = list[i];

		for (k = i; k && list[k - 1].rank < moved.rank; k--)
			list[k] = list[k - 1];
		list[k] = moved;
	}
}

/* Joins a node with those of a turn. */
static void join(struct walk *w, struct turn *turn, uint32_t node)
{
	const bool is_end = w->stacks->parts[turn->rank].is_end;
	void *next = map_set(&w->same, key_of(turn->node, is_end), (void *)(uintptr_t)node);

	if (next)
		(void)map_set(&w->same, key_of(node, is_end), next);
	turn->is_joined = true;
}

/* Adds the turns of what is below a turn. */
static void add_children(struct walk *w, const struct turn *of)
{
	const struct chains_stacks *s = w->stacks;
	const struct call_node *nodes = s->tree->nodes;
	const size_t first = w->count;
	const uint32_t depth = of->node ? of->depth + 1 : 0;
	uint32_t node, i;
	size_t k, n;

	for (node = of->node; node || !of->node; node = next_of(w, of, node)) {
		for (i = nodes[node].child; i; i = nodes[i].sibling) {
			const uint32_t number = *known_number(s, nodes[i].what);

			if (nodes[i].self)
				add_turn(w, i, s->last[number], depth);
			if (nodes[i].child)
				add_turn(w, i, s->inner[number], depth);
		}
		if (!of->node)
			break;
	}
	if (w->count - first < 2)
		return;
	sort_turns(w->turns + first, w->count - first);
	for (k = n = first + 1; k < w->count; k++) {
		if (w->turns[n - 1].rank == w->turns[k].rank)
			join(w, &w->turns[n - 1], w->turns[k].node);
		else
			w->turns[n++] = w->turns[k];
	}
	w->count = n;
}

static uint64_t own_samples(const struct walk *w, const struct turn *turn)
{
	uint64_t sum = 0;
	uint32_t node;

	for (node = turn->node; node; node = next_of(w, turn, node))
		sum += w->stacks->tree->nodes[node].self;
	return sum;
}

/* Makes the text of a turn from that of what it is below. */
static void write_turn(struct walk *w, const struct turn *turn)
{
	const struct part *part = &w->stacks->parts[turn->rank];

	strbuf_cut(&w->text, turn->depth ? w->ends[turn->depth - 1] : 0);
	strbuf_add(&w->text, part->text, part->length);
	if (part->is_end)
		return;
	array_grow(&w->ends, (size_t)turn->depth + 1, &w->ends_room);
	w->ends[turn->depth] = w->text.length;
}

void chains_stacks_each(struct chains_stacks *s,
			void (*each)(const struct strbuf *text, uint64_t samples, void *data),
			void *data)
{
	struct walk w = { .stacks = s, .text = STRBUF_INIT };

	add_children(&w, &(struct turn){ 0 });
	while (w.count) {
		const struct turn turn = w.turns[--w.count];

		write_turn(&w, &turn);
		if (s->parts[turn.rank].is_end)
			each(&w.text, own_samples(&w, &turn), data);
		else
			add_children(&w, &turn);
	}
	free(w.turns);
	free(w.ends);
	map_done(&w.same);
	strbuf_done(&w.text);
}
