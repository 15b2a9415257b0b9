/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/internal/chains_lists.h"

#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "profile/rows/chains.h"
#include "profile/rows/code_kind.h"
#include "profile/print/report.h"
#include "profile/select/cgroup_label.h"

#include <stdlib.h>
#include <string.h>

/* --- parts of stacks --- */

/* Ends a part of a stack, which begins at @from: no semicolons. */
static void end_part(struct strbuf *b, size_t from)
{
	char *at;

	for (at = b->text + from; b->text && *at; at++)
		if (*at == ';')
			*at = ':';
}

static void add_app(struct strbuf *b, const struct report *r, uint32_t app)
{
	size_t from = b->length;

	text_visible(b, report_image(r, app));
	end_part(b, from);
}

/* Adds a function's name: without semicolons and control characters, with the mark by which tools
 * colour it. */
static void add_function(struct strbuf *b, const struct report *r, const struct row *row)
{
	size_t from = b->length;

	if (row->kind == ROW_SYMBOL)
		text_visible(b, row->text);
	else
		chains_add_bracketed(b, r, row->image);
	end_part(b, from);
	strbuf_adds(b, code_kind_mark(r->gather, row, r->chains->is_kernel[row->image]));
}

/* --- stacks of lines --- */

static char *fold(const struct report *r, const struct chains *c, const struct chains_line *l)
{
	struct strbuf b = STRBUF_INIT;
	size_t i;

	add_app(&b, r, l->app);
	if (c->ends[l->end].mark)
		strbuf_addf(&b, ";%s", c->ends[l->end].mark);
	for (i = l->count; i-- > 0;) {
		strbuf_adds(&b, ";");
		add_function(&b, r, chains_frame(c, l, i));
	}
	return strbuf_take(&b);
}

/* A stack. */
struct folded {
	char *text;    /* or NULL, and: */
	uint32_t node; /* of the tree */
	struct chains_samples samples;
	bool is_left_out;
};

struct stacks {
	struct folded *list; /* sorted by text */
	size_t count, room;
};

static void stacks_done(struct stacks *s)
{
	while (s->count)
		free(s->list[--s->count].text);
	free(s->list);
}

/* The outermost part of stacks, by task: the name of its cgroup or thread. */
static char **name_tasks(const struct report *r)
{
	const struct task_list *t = &r->chains->tasks;
	_cleanup_free_ const char **paths = xcalloc(t->count + 1, sizeof(*paths)), **names = NULL;
	char **ret = xcalloc(t->count + 1, sizeof(*ret));
	struct intern texts = INTERN_INIT;
	size_t i;

	for (i = 0; i < t->count; i++)
		paths[i] = t->list[i].cgroup;
	names = cgroup_names(r->gather->session_names, paths, t->count, &texts);
	for (i = 0; i < t->count; i++) {
		struct strbuf b = STRBUF_INIT;

		text_visible(&b, r->chains->outer == CHAINS_OUTER_CGROUP
					 ? names[i]
					 : t->list[i].comm ?: "all");
		end_part(&b, 0);
		ret[i] = strbuf_take(&b);
	}
	intern_done(&texts);
	return ret;
}

/* The stacks of the lines of each task, in no order. */
static struct stacks fold_parts(const struct report *r)
{
	const struct chains *c = r->chains;
	struct folded *list = xcalloc(c->part_count + 1, sizeof(*list));
	_cleanup_free_ char **texts = xcalloc(c->line_count + 1, sizeof(*texts));
	_cleanup_free_ char **tasks = name_tasks(r);
	size_t i;

	for (i = 0; i < c->line_count; i++)
		texts[c->lines[i].id] = fold(r, c, &c->lines[i]);
	for (i = 0; i < c->part_count; i++)
		list[i] = (struct folded){ .text = xasprintf("%s;%s", tasks[c->parts[i].task],
							     texts[c->parts[i].line]),
					   .samples.now = c->parts[i].samples };
	for (i = 0; i < c->line_count; i++)
		free(texts[i]);
	for (i = 0; i < c->tasks.count; i++)
		free(tasks[i]);
	return (struct stacks){ list, c->part_count, 0 };
}

static int compare_folded(const void *a, const void *b)
{
	return strcmp(((const struct folded *)a)->text, ((const struct folded *)b)->text);
}

static struct stacks fold_each(const struct report *r)
{
	const struct chains *c = r->chains;
	struct folded *list = xcalloc(c->line_count + 1, sizeof(*list));
	size_t i;

	for (i = 0; i < c->line_count; i++)
		list[i] = (struct folded){ .text = fold(r, c, &c->lines[i]),
					   .samples = chains_line_samples(c, &c->lines[i]) };
	return (struct stacks){ list, c->line_count, 0 };
}

/* Lists the stacks of all lines, with equal ones added up. */
static struct stacks fold_lines(const struct report *r)
{
	struct stacks s = r->chains->outer ? fold_parts(r) : fold_each(r);
	struct folded *list = s.list, *end = list + s.count, *f;

	if (s.count)
		qsort(list, s.count, sizeof(*list), compare_folded);
	for (f = list, s.count = 0; f < end; f++) {
		if (s.count && !strcmp(list[s.count - 1].text, f->text)) {
			list[s.count - 1].samples.now += f->samples.now;
			list[s.count - 1].samples.before += f->samples.before;
			free(f->text);
		} else {
			list[s.count++] = *f;
		}
	}
	return s;
}

/* --- stacks of a tree --- */

/* The texts of the nodes of a tree of chains. Several children of a node can have one, as two
 * functions can: these are a group, which is called like the first of its nodes. */
struct texts {
	const struct call_tree *tree;
	uint32_t *of;	  /* by node: number of its text */
	uint32_t *depths; /* by node */
	uint32_t *same;	  /* by node: the next one of its group; 0: there is none */
	struct map by_hash;
	const char **list; /* by number, from 1 on */
	size_t count, room;
	struct arena arena;
	/* The order of texts, by number: where a stack ends, and where it goes on. */
	uint32_t *last, *inner;
};

static void texts_done(struct texts *t)
{
	map_done(&t->by_hash);
	arena_done(&t->arena);
	free(t->of);
	free(t->depths);
	free(t->same);
	free(t->list);
	free(t->last);
	free(t->inner);
}

/* The number of a text. */
static uint32_t number_of(struct texts *t, const struct strbuf *text)
{
	uint64_t hash = hash_bytes(strbuf_text(text), text->length);
	uintptr_t number;

	map_for_each_of(&t->by_hash, hash,
			number) if (!strcmp(t->list[number],
					    strbuf_text(text))) return (uint32_t)number;
	array_grow(&t->list, t->count + 2, &t->room);
	t->list[++t->count] = arena_strdup(&t->arena, strbuf_text(text));
	map_add(&t->by_hash, hash, (void *)(uintptr_t)t->count);
	return (uint32_t)t->count;
}

/* The number of the text of what a node is. @rows: those that are known, by id; else 0. */
static uint32_t text_of(struct texts *t, const struct report *r, uint32_t what, uint32_t *rows)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	if (what & CHAINS_NODE_APP)
		add_app(&text, r, what & ~CHAINS_NODE_APP);
	else if (what & CHAINS_NODE_END)
		strbuf_adds(&text, r->chains->ends[what & ~CHAINS_NODE_END].mark);
	else if (rows[what])
		return rows[what];
	else
		add_function(&text, r, &r->chains->rows.rows[what]);
	if (what & (CHAINS_NODE_APP | CHAINS_NODE_END))
		return number_of(t, &text);
	return rows[what] = number_of(t, &text);
}

/* Finds the text of each node: parents precede their children. */
static void number_nodes(struct texts *t, const struct report *r)
{
	_cleanup_free_ uint32_t *rows = xcalloc(r->chains->rows.count + 1, sizeof(*rows));
	uint32_t i;

	t->tree = &r->chains->tree;
	t->of = xcalloc(t->tree->count, sizeof(*t->of));
	t->depths = xcalloc(t->tree->count, sizeof(*t->depths));
	t->same = xcalloc(t->tree->count, sizeof(*t->same));
	for (i = 1; i < t->tree->count; i++) {
		const struct call_node *n = &t->tree->nodes[i];

		t->of[i] = text_of(t, r, n->what, rows);
		t->depths[i] = t->depths[n->parent] + 1;
	}
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Finds the order of stacks, which are compared as a whole: a part of one is followed by a
 * semicolon, or by nothing. */
static void order_texts(struct texts *t)
{
	const char **all = xcalloc(2 * t->count + 1, sizeof(*all));
	struct map ranks = MAP_INIT; /* by pointer */
	size_t i, n = 0;

	for (i = 1; i <= t->count; i++) {
		size_t length = strlen(t->list[i]);
		char *inner = arena_alloc(&t->arena, length + 2);

		memcpy(inner, t->list[i], length);
		memcpy(inner + length, ";", 2);
		all[n++] = t->list[i];
		all[n++] = inner;
	}
	t->last = xcalloc(t->count + 1, sizeof(*t->last));
	t->inner = xcalloc(t->count + 1, sizeof(*t->inner));
	for (i = 0; i < n; i++)
		(void)map_set(&ranks, (uintptr_t)all[i], (void *)(uintptr_t)(i + 1));
	if (n)
		qsort(all, n, sizeof(*all), compare_texts);
	for (i = 0; i < n; i++) {
		uintptr_t was = (uintptr_t)map_get(&ranks, (uintptr_t)all[i]) - 1;

		(was & 1 ? t->inner : t->last)[was / 2 + 1] = (uint32_t)i;
	}
	map_done(&ranks);
	free(all);
}

/* What comes next in the order of stacks: the stack that ends at a node, or those that go on. */
struct turn {
	uint32_t node, rank;
	bool is_end;
};

static int compare_turns(const void *pa, const void *pb)
{
	const struct turn *a = pa, *b = pb;

	return (a->rank < b->rank) - (a->rank > b->rank);
}

struct turns {
	struct turn *list; /* the next one last */
	size_t count, room;
};

static void add_turn(struct turns *t, struct turn turn)
{
	array_grow(&t->list, t->count + 1, &t->room);
	t->list[t->count++] = turn;
}

/* Adds the children of all nodes of a group, as if each were a group of its own. */
static void add_nodes(const struct texts *t, uint32_t group, struct turns *turns)
{
	uint32_t i;

	do {
		for (i = t->tree->nodes[group].child; i; i = t->tree->nodes[i].sibling)
			add_turn(turns, (struct turn){ i, t->last[t->of[i]], true });
	} while ((group = t->same[group]));
}

static void sort_turns(struct turns *t, size_t first)
{
	if (t->count - first > 1)
		qsort(t->list + first, t->count - first, sizeof(*t->list), compare_turns);
}

/* Makes groups of nodes that were added from @first on. */
static void join_nodes(struct texts *t, struct turns *turns, size_t first)
{
	size_t i, n = first;

	sort_turns(turns, first);
	for (i = first; i < turns->count; i++) {
		struct turn *turn = &turns->list[i];

		if (n > first && turns->list[n - 1].rank == turn->rank) {
			t->same[turn->node] = t->same[turns->list[n - 1].node];
			t->same[turns->list[n - 1].node] = turn->node;
		} else {
			turns->list[n++] = *turn;
		}
	}
	turns->count = n;
}

static uint64_t own_samples(const struct texts *t, uint32_t group)
{
	uint64_t sum = 0;

	do
		sum += t->tree->nodes[group].self;
	while ((group = t->same[group]));
	return sum;
}

static bool has_children(const struct texts *t, uint32_t group)
{
	do
		if (t->tree->nodes[group].child)
			return true;
	while ((group = t->same[group]));
	return false;
}

/* Adds the turns of what is below a group. */
static void add_children(struct texts *t, uint32_t group, struct turns *turns)
{
	size_t first = turns->count, i, count;

	add_nodes(t, group, turns);
	join_nodes(t, turns, first);
	count = turns->count;
	for (i = first; i < count; i++) {
		uint32_t node = turns->list[i].node;

		if (has_children(t, node))
			add_turn(turns, (struct turn){ node, t->inner[t->of[node]], false });
	}
	sort_turns(turns, first);
}

/* Lists the stacks of the tree. */
static void fold_tree(struct texts *t, struct stacks *s)
{
	struct turns turns = { 0 };
	uint64_t samples;

	add_turn(&turns, (struct turn){ 0 });
	while (turns.count) {
		const struct turn turn = turns.list[--turns.count];

		if (!turn.is_end) {
			add_children(t, turn.node, &turns);
			continue;
		}
		samples = own_samples(t, turn.node);
		if (!samples)
			continue;
		array_grow(&s->list, s->count + 1, &s->room);
		s->list[s->count++] = (struct folded){ .node = turn.node, .samples.now = samples };
	}
	free(turns.list);
}

/* The text of a stack of the tree, of which most is that of the stack before. */
struct writing {
	const struct texts *texts;
	struct strbuf text;
	struct {
		uint32_t node;
		size_t end; /* of its part in ->text */
	} * way;	    /* by depth */
	size_t way_room;
};

static void write_stack(struct writing *w, uint32_t node)
{
	const struct texts *t = w->texts;
	size_t depth = t->depths[node], had = w->way_room, known, i;

	array_grow(&w->way, depth + 1, &w->way_room);
	for (; had < w->way_room; had++)
		w->way[had].node = 0;
	for (i = depth; i && w->way[i].node != node; i--) {
		w->way[i].node = node;
		node = t->tree->nodes[node].parent;
	}
	known = i;
	strbuf_cut(&w->text, known ? w->way[known].end : 0);
	for (i = known + 1; i <= depth; i++) {
		if (i > 1)
			strbuf_adds(&w->text, ";");
		strbuf_adds(&w->text, t->list[t->of[w->way[i].node]]);
		w->way[i].end = w->text.length;
	}
}

/* --- what is shown --- */

static int compare_samples(const void *a, const void *b)
{
	const struct folded *x = *(struct folded *const *)a, *y = *(struct folded *const *)b;
	uint64_t m = x->samples.now ?: x->samples.before, n = y->samples.now ?: y->samples.before;

	return m != n ? (m < n) - (m > n) : (x > y) - (x < y);
}

/* Marks the stacks that are not shown. */
static void cut(const struct report *r, struct stacks *s, struct chains_rest *rest)
{
	_cleanup_free_ struct folded **order = NULL;
	size_t i;

	if (!r->view->top && r->view->threshold <= 0)
		return;
	order = xcalloc(s->count + 1, sizeof(*order));
	for (i = 0; i < s->count; i++)
		order[i] = &s->list[i];
	if (s->count)
		qsort(order, s->count, sizeof(*order), compare_samples);
	for (i = 0; i < s->count; i++) {
		struct folded *f = order[i];

		f->is_left_out = !chains_take(r, i, f->samples, f->samples.now, &rest->left);
		rest->before += f->is_left_out ? f->samples.before : 0;
	}
}

struct chains_rest chains_fold(const struct report *r, chains_stack *each, void *data)
{
	_cleanup_(stacks_done) struct stacks stacks = { 0 };
	_cleanup_(texts_done) struct texts texts = { 0 };
	struct writing w = { .texts = &texts, .text = STRBUF_INIT };
	struct chains_rest rest = { 0 };
	size_t i;

	if (r->chains->wants_tree) {
		number_nodes(&texts, r);
		order_texts(&texts);
		fold_tree(&texts, &stacks);
	} else {
		stacks = fold_lines(r);
	}
	cut(r, &stacks, &rest);
	for (i = 0; i < stacks.count; i++) {
		const struct folded *f = &stacks.list[i];

		if (f->is_left_out)
			continue;
		if (!f->text)
			write_stack(&w, f->node);
		each(r, f->text ?: strbuf_text(&w.text), f->samples, data);
	}
	strbuf_done(&w.text);
	free(w.way);
	return rest;
}
