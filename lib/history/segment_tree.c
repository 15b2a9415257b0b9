/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/segment_tree.h"

#include "base/hash.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 1 << 10, AHEAD = 24 /* of memory that is fetched */ };

void segment_tree_init(struct segment_tree *t)
{
	*t = (struct segment_tree){ .mask = SLOTS_MIN - 1 };
	t->slots = xcalloc(SLOTS_MIN, sizeof(*t->slots));
	array_grow(&t->nodes, 1, &t->room);
	array_grow(&t->counts, 1, &t->counts_room);
	array_grow(&t->paths, 1, &t->paths_room);
	array_grow(&t->lines, 1, &t->line_room);
	t->paths[0] = 0;
	t->nodes[0] = (struct segment_node){ 0 };
	t->counts[0] = 0;
	t->lines[0] = "";
}

void segment_tree_end(struct segment_tree *t)
{
	free(STEAL(t->counts));
	free(STEAL(t->paths));
	free(STEAL(t->slots));
}

void segment_tree_done(struct segment_tree *t)
{
	free(t->nodes);
	free(t->counts);
	free(t->lines);
	free(t->paths);
	free(t->slots);
	arena_done(&t->text);
	map_done(&t->by_line);
	*t = (struct segment_tree){ 0 };
}

uint32_t segment_tree_line(struct segment_tree *t, const char *line)
{
	size_t length = strlen(line);
	uint64_t hash = hash_text(line, length);
	uintptr_t number;

	map_for_each_of(&t->by_line, hash,
			number) if (!strcmp(t->lines[number], line)) return (uint32_t)number;
	array_grow(&t->lines, t->line_count + 2, &t->line_room);
	t->lines[++t->line_count] = arena_strndup(&t->text, line, length);
	map_add(&t->by_line, hash, (void *)(uintptr_t)t->line_count);
	return (uint32_t)t->line_count;
}

/* A node is looked up by a hash of all that leads to it. So the hashes of many nodes are known
 * before any of them is found, and their memory can be fetched at once. */
static uint32_t path_below(uint32_t path, uint32_t line, uint64_t key)
{
	return (uint32_t)hash_u64(key ^ ((uint64_t)path << 32 | line) * 0x9e3779b97f4a7c15ULL);
}

/* The slot of the node @wanted, or the free one for it. */
static uint32_t *slot_of(const struct segment_tree *t, const struct segment_node *wanted,
			 uint32_t path)
{
	size_t i;

	for (i = path & t->mask;; i = (i + 1) & t->mask) {
		const struct segment_node *n = &t->nodes[t->slots[i]];

		if (!t->slots[i] || (n->key == wanted->key && n->parent == wanted->parent &&
				     n->line == wanted->line))
			return &t->slots[i];
	}
}

static void grow_slots(struct segment_tree *t, size_t nodes)
{
	size_t i, k;

	while (nodes >= t->mask / 2)
		t->mask = t->mask * 2 + 1;
	free(t->slots);
	t->slots = xcalloc(t->mask + 1, sizeof(*t->slots));
	for (i = 1; i <= t->count; i++) {
		if (i + AHEAD <= t->count)
			__builtin_prefetch(&t->slots[t->paths[i + AHEAD] & t->mask], 1);
		for (k = t->paths[i] & t->mask; t->slots[k]; k = (k + 1) & t->mask)
			;
		t->slots[k] = (uint32_t)i;
	}
}

static uint32_t append(struct segment_tree *t, const struct segment_node *node, uint32_t path)
{
	array_grow(&t->nodes, t->count + 2, &t->room);
	array_grow(&t->counts, t->count + 2, &t->counts_room);
	array_grow(&t->paths, t->count + 2, &t->paths_room);
	t->nodes[++t->count] = *node;
	t->counts[t->count] = 0;
	t->paths[t->count] = path;
	return (uint32_t)t->count;
}

static uint32_t find_or_add(struct segment_tree *t, const struct segment_node *wanted,
			    uint32_t path)
{
	uint32_t *slot;

	if (t->count >= t->mask / 2)
		grow_slots(t, t->count);
	slot = slot_of(t, wanted, path);
	if (!*slot)
		*slot = append(t, wanted, path);
	return *slot;
}

uint32_t segment_tree_node(struct segment_tree *t, uint32_t parent, uint32_t line, uint64_t key)
{
	return find_or_add(t, &(struct segment_node){ key, parent, line },
			   path_below(t->paths[parent], line, key));
}

uint32_t segment_tree_append(struct segment_tree *t, uint32_t parent, uint32_t line, uint64_t key)
{
	return append(t, &(struct segment_node){ key, parent, line }, 0);
}

static uint32_t line_in(const uint32_t *lines, uint32_t line)
{
	return lines ? lines[line] : line;
}

void segment_tree_merge(struct segment_tree *t, const struct segment_node *nodes, size_t count,
			const uint32_t *lines, uint32_t *numbers)
{
	_cleanup_free_ uint32_t *paths = xcalloc(count + 1, sizeof(*paths));
	size_t i;

	for (i = 1; i <= count; i++)
		paths[i] = path_below(paths[nodes[i].parent], line_in(lines, nodes[i].line),
				      nodes[i].key);
	numbers[0] = 0;
	for (i = 1; i <= count; i++) {
		const struct segment_node wanted = { nodes[i].key, numbers[nodes[i].parent],
						     line_in(lines, nodes[i].line) };

		if (i + AHEAD <= count)
			__builtin_prefetch(&t->slots[paths[i + AHEAD] & t->mask], 1);
		if (i + AHEAD / 2 <= count)
			__builtin_prefetch(&t->nodes[t->slots[paths[i + AHEAD / 2] & t->mask]]);
		numbers[i] = find_or_add(t, &wanted, paths[i]);
	}
}

void segment_tree_count(struct segment_tree *t, uint32_t node, uint64_t count)
{
	if (__builtin_add_overflow(t->counts[node], count, &t->counts[node]))
		t->counts[node] = UINT64_MAX;
}

/* The counts of each node and all below it; the caller frees. */
static uint64_t *inclusive(const struct segment_tree *t)
{
	uint64_t *sums = xmemdup(t->counts, (t->count + 1) * sizeof(*sums));
	size_t i;

	for (i = t->count; i > 0; i--) {
		uint64_t *parent = &sums[t->nodes[i].parent];

		if (__builtin_add_overflow(*parent, sums[i], parent))
			*parent = UINT64_MAX;
	}
	return sums;
}

/* --- folding --- */

/* One pass over the nodes that moves rare roots. */
struct moving {
	struct segment_tree *t;
	uint32_t *to;	/* by node: itself, or where it was moved */
	uint32_t *top;	/* its root */
	uint64_t *sums; /* of it and all below it */
	bool *same;	/* of a root that was moved: those below it keep their keys */
};

/* Where the root @i is moved to. */
static uint32_t move_root(struct moving *m, uint32_t i, const struct segment_folding *how,
			  unsigned int rung)
{
	struct segment_tree *t = m->t;
	_cleanup_free_ char *line = NULL;

	if (!m->sums[i] || m->sums[i] >= how->threshold)
		return i;
	line = how->other(t->lines[t->nodes[i].line], rung, &m->same[i]);
	return line ? segment_tree_node(t, 0, segment_tree_line(t, line), 0) : i;
}

/* Where @i, below a root that was moved, is moved to. */
static uint32_t move_child(struct moving *m, uint32_t i)
{
	struct segment_tree *t = m->t;
	struct segment_node n = t->nodes[i];
	uint32_t root = m->top[i], line = t->nodes[m->to[root]].line;

	if (!m->same[root])
		return segment_tree_node(t, m->to[root], line, SEGMENT_RARE);
	return segment_tree_node(t, m->to[n.parent], n.line == t->nodes[root].line ? line : n.line,
				 n.key);
}

/* Moves rare roots and their counts; returns where each node is now, caller frees. */
static uint32_t *move_roots(struct segment_tree *t, const struct segment_folding *how,
			    unsigned int rung)
{
	size_t count = t->count, i;
	_cleanup_free_ uint64_t *sums = inclusive(t);
	_cleanup_free_ uint32_t *top = xcalloc(count + 1, sizeof(*top));
	_cleanup_free_ bool *same = xcalloc(count + 1, sizeof(*same));
	struct moving m = { t, xcalloc(count + 1, sizeof(*m.to)), top, sums, same };

	for (i = 1; i <= count; i++) {
		uint32_t parent = t->nodes[i].parent, number = (uint32_t)i;

		top[i] = parent ? top[parent] : number;
		if (!parent)
			m.to[i] = move_root(&m, number, how, rung);
		else
			m.to[i] = m.to[top[i]] == top[i] ? number : move_child(&m, number);
	}
	for (i = 1; i <= count; i++)
		if (m.to[i] != i) {
			segment_tree_count(t, m.to[i], t->counts[i]);
			t->counts[i] = 0;
		}
	return m.to;
}

/* One pass over rare nodes that finds their functions. */
struct leaves {
	struct segment_tree *t;
	const struct segment_folding *how;
	const void **tables; /* by line; ->is_known: it was asked for */
	bool *is_known;
};

/* Finds the key of the function of node @n. */
static bool function_key(struct leaves *l, const struct segment_node *n, uint64_t *ret)
{
	const struct segment_functions *f = l->how->functions;
	uint64_t start;

	if (n->key >> 47) /* not an offset in a file */
		return false;
	if (!l->is_known[n->line]) {
		l->is_known[n->line] = true;
		l->tables[n->line] = f->of_line(f, l->t->lines[n->line]);
	}
	if (!l->tables[n->line] || !f->start(l->tables[n->line], n->key, &start) || start >> 47)
		return false;
	*ret = start | SEGMENT_FUNCTION;
	return true;
}

/* The nodes of the functions that rare nodes with samples are in, 0: none. The caller frees. */
static uint32_t *find_functions(struct leaves *l, const uint64_t *sums, size_t count)
{
	struct segment_tree *t = l->t;
	uint64_t threshold = l->how->threshold, key;
	uint32_t *functions = xcalloc(count + 1, sizeof(*functions)), i;

	for (i = 1; i <= count; i++) {
		struct segment_node n = t->nodes[i];
		bool is_below_kept =
			n.parent && (sums[n.parent] >= threshold || !t->nodes[n.parent].parent);

		if (!is_below_kept || !t->counts[i] || sums[i] >= threshold)
			continue;
		if (segment_is_function(n.key))
			functions[i] = i;
		else if (function_key(l, &n, &key))
			functions[i] = segment_tree_node(t, n.parent, n.line, key);
	}
	return functions;
}

/* Moves the samples of rare nodes to their functions, where these are not rare: in @to, which has
 * where the @count nodes are now. */
static void fold_leaves(struct segment_tree *t, const struct segment_folding *how,
			const uint64_t *sums, size_t count, uint32_t *to)
{
	_cleanup_free_ const void **tables = xcalloc(t->line_count + 1, sizeof(void *));
	_cleanup_free_ bool *is_known = xcalloc(t->line_count + 1, sizeof(*is_known));
	struct leaves l = { t, how, tables, is_known };
	_cleanup_free_ uint32_t *functions = find_functions(&l, sums, count);
	_cleanup_free_ uint64_t *totals = xcalloc(t->count + 1, sizeof(*totals));
	uint32_t i, f;

	for (i = 1; i <= count; i++) {
		f = functions[i] || !segment_is_function(t->nodes[i].key) ? functions[i] : i;
		if (__builtin_add_overflow(totals[f], t->counts[i], &totals[f]))
			totals[f] = UINT64_MAX;
	}
	for (i = 1; i <= count; i++)
		if (functions[i] && totals[functions[i]] >= how->threshold)
			to[i] = functions[i];
}

/* Folds what is rare below a root; returns where each node is now, 0 if it has no counts; the
 * caller frees. */
static uint32_t *fold_nodes(struct segment_tree *t, const struct segment_folding *how)
{
	size_t count = t->count;
	uint64_t threshold = how->threshold;
	_cleanup_free_ uint64_t *sums = inclusive(t);
	uint32_t *to = xcalloc(count + 1, sizeof(*to)), i;

	for (i = 1; i <= count; i++) {
		uint32_t parent = t->nodes[i].parent, kept = to[parent];

		if (!sums[i])
			continue;
		if (sums[i] >= threshold || !parent)
			to[i] = i;
		else if (t->nodes[kept].key == SEGMENT_RARE)
			to[i] = kept;
		else
			to[i] = segment_tree_node(t, kept, t->nodes[kept].line, SEGMENT_RARE);
	}
	if (how->functions && threshold)
		fold_leaves(t, how, sums, count, to);
	return to;
}

uint32_t *segment_tree_fold(struct segment_tree *t, const struct segment_folding *how)
{
	size_t count = t->count, i;
	_cleanup_free_ uint32_t *first = move_roots(t, how, 0), *second = move_roots(t, how, 1);
	uint32_t *to = fold_nodes(t, how);

	for (i = 1; i <= count; i++)
		first[i] = to[second[first[i]]];
	free(to);
	return STEAL(first);
}
