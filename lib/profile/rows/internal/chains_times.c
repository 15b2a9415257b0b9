/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/chains.h"

#include "base/map.h"
#include "base/mem.h"
#include "chains/chain_read.h"
#include "history/slice_file.h"
#include "profile/rows/internal/chains_take.h"

#include <stdlib.h>

/* The moments of a source are kept apart by the caller's number and the task. */
struct kind {
	uint32_t number, task;
};

/* Samples of a kind. */
struct moment {
	uint32_t kind;
	uint64_t samples;
};

struct times {
	const struct chains *chains;
	const struct chains_source *source;
	const uint32_t *numbers; /* the caller's, by node of the tree */
	uint32_t *by_number;	 /* the same as ->by_task for task 0 */
	struct map by_task;	 /* of other tasks: the kind, from 1 on */
	struct kind *kinds;
	size_t count, room;
	struct moment *slice; /* those of the current slice */
	size_t slice_count, slice_room;
	uint32_t *latest; /* by kind: where in ->slice it is, if it is there */
	void (*each)(const struct chains_moment *m, void *data);
	void *data;
};

static uint32_t add_kind(struct times *t, uint32_t number, uint32_t task)
{
	array_grow(&t->kinds, t->count + 1, &t->room);
	t->kinds[t->count++] = (struct kind){ number, task };
	return (uint32_t)t->count;
}

/* The kind of the moments of a node of the tree. */
static uint32_t kind_of(struct times *t, uint32_t node, uint32_t task)
{
	const uint32_t number = t->numbers[node];
	const uint64_t key = (uint64_t)number << 32 | task;
	uintptr_t known;

	if (!task) {
		if (!t->by_number[number])
			t->by_number[number] = add_kind(t, number, task);
		return t->by_number[number];
	}
	known = (uintptr_t)map_get(&t->by_task, key);
	if (!known) {
		known = add_kind(t, number, task);
		(void)map_set(&t->by_task, key, (void *)known);
	}
	return (uint32_t)known;
}

/* The kinds of all nodes of the source, by number; 0: not chosen. Caller frees. */
static uint32_t *find_kinds(struct times *t)
{
	const struct chains_source *s = t->source;
	uint32_t count = chain_reader_nodes(s->reader), i;
	uint32_t *kinds = xcalloc(count, sizeof(*kinds));

	for (i = 1; i < count; i++)
		if (s->leaf[i])
			kinds[i] = kind_of(t, s->leaf[i], s->leaf_tasks ? s->leaf_tasks[i] : 0);
	return kinds;
}

static bool wants_slice(const struct slice *slice, void *data)
{
	const struct times *t = data;

	return chains_take_slice(t->chains, slice);
}

static int take_moment(uint32_t none _unused_, const struct chain *chain, void *data)
{
	struct times *t = data;
	const uint32_t at = t->latest[chain->node];

	if (at < t->slice_count && t->slice[at].kind == chain->node) {
		t->slice[at].samples += chain->samples;
		return 0;
	}
	t->latest[chain->node] = (uint32_t)t->slice_count;
	array_grow(&t->slice, t->slice_count + 1, &t->slice_room);
	t->slice[t->slice_count++] = (struct moment){ chain->node, chain->samples };
	return 0;
}

static int end_slice(const struct slice *slice, void *data)
{
	struct times *t = data;
	uint32_t step = steps_at(&t->chains->steps, &slice->span);
	size_t i;

	for (i = 0; i < t->slice_count; i++) {
		const struct kind *kind = &t->kinds[t->slice[i].kind - 1];

		t->each(&(struct chains_moment){ kind->number, step, kind->task,
						 t->slice[i].samples },
			t->data);
	}
	t->slice_count = 0;
	return 0;
}

static void visit_source(struct times *t)
{
	_cleanup_free_ uint32_t *kinds = find_kinds(t);
	const struct chain_visitor when = { .nodes_only = true,
					    .numbers = kinds,
					    .number_count = (uint32_t)t->count + 1,
					    .steps = &t->chains->steps,
					    .wants = wants_slice,
					    .each = take_moment,
					    .end = end_slice,
					    .data = t };

	t->latest = xcalloc(t->count + 1, sizeof(*t->latest));
	(void)chain_reader_each_slice(t->source->reader, &when); /* no call fails */
	free(t->latest);
}

void chains_each_moment(const struct chains *c, const uint32_t *numbers, uint32_t count,
			void (*each)(const struct chains_moment *m, void *data), void *data)
{
	struct times t = { .chains = c,
			   .numbers = numbers,
			   .by_number = xcalloc(count, sizeof(*t.by_number)),
			   .each = each,
			   .data = data };
	size_t i;

	for (i = 0; i < c->source_count; i++) {
		t.source = &c->sources[i];
		visit_source(&t);
	}
	free(t.by_number);
	map_done(&t.by_task);
	free(t.kinds);
	free(t.slice);
}
