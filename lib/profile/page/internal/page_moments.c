/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/page/internal/page_moments.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/radix.h"

#include <stdbool.h>
#include <stdlib.h>

void page_moments_add(struct page_moments *m, struct page_moment moment)
{
	array_grow(&m->list, m->count + 1, &m->room);
	m->list[m->count++] = moment;
}

static int compare(const void *a, const void *b)
{
	const struct page_moment *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return (x->task > y->task) - (x->task < y->task);
}

/* A page can have tens of millions of moments before they are merged. Steps and tasks that do not
 * fit into a key are compared. */
enum { STEP_BITS = 12, TASK_BITS = 20 };

static bool fits(const struct page_moments *m)
{
	uint32_t step = 0, task = 0;
	size_t i;

	for (i = 0; i < m->count; i++) {
		step |= m->list[i].step;
		task |= m->list[i].task;
	}
	return step >> STEP_BITS == 0 && task >> TASK_BITS == 0;
}

/* Sorts moments by keys that have all but their samples. */
static void sort_keys(struct page_moments *m)
{
	struct radix_entry *entries = xcalloc(2 * m->count, sizeof(*entries));
	size_t i;

	for (i = 0; i < m->count; i++) {
		const struct page_moment *one = &m->list[i];

		entries[i] = (struct radix_entry){
			(uint64_t)one->place << (STEP_BITS + TASK_BITS) |
				(uint64_t)one->step << TASK_BITS | one->task,
			one->samples,
		};
	}
	radix_sort(entries, entries + m->count, m->count);
	for (i = 0; i < m->count; i++) {
		uint64_t key = entries[i].key;

		m->list[i] = (struct page_moment){
			.place = (uint32_t)(key >> (STEP_BITS + TASK_BITS)),
			.step = (uint32_t)(key >> TASK_BITS) & ((1U << STEP_BITS) - 1),
			.task = (uint32_t)key & ((1U << TASK_BITS) - 1),
			.samples = (uint32_t)entries[i].value,
		};
	}
	free(entries);
}

static uint32_t sum_of(uint32_t a, uint32_t b)
{
	return __builtin_add_overflow(a, b, &a) ? UINT32_MAX : a;
}

void page_moments_merge(struct page_moments *m)
{
	size_t i, n = 0;

	if (m->count && fits(m))
		sort_keys(m);
	else if (m->count)
		qsort(m->list, m->count, sizeof(*m->list), compare);
	for (i = 0; i < m->count; i++) {
		if (n && compare(&m->list[n - 1], &m->list[i]) == 0)
			m->list[n - 1].samples = sum_of(m->list[n - 1].samples, m->list[i].samples);
		else
			m->list[n++] = m->list[i];
	}
	m->count = n;
}

/* Where the moments of each step begin in the order of steps; NULL if there are tasks, or too many
 * steps. Caller frees. */
static size_t *find_steps(const struct page_moments *m)
{
	enum { STEPS = 1 << STEP_BITS };
	_cleanup_free_ size_t *starts = xcalloc(STEPS + 1, sizeof(*starts));
	size_t i;

	for (i = 0; i < m->count; i++) {
		const struct page_moment *one = &m->list[i];

		if (one->task || one->step >= STEPS)
			return NULL;
		starts[one->step + 1]++;
	}
	for (i = 0; i < STEPS; i++)
		starts[i + 1] += starts[i];
	return STEAL(starts);
}

/* An array as large as the list. */
static struct page_moment *spare_of(struct page_moments *m)
{
	if (m->spare_room < m->room) {
		free(m->spare);
		m->spare = xcalloc_whole(m->room, sizeof(*m->spare));
		m->spare_room = m->room;
	}
	return m->spare;
}

void page_moments_gather(struct page_moments *m, size_t places)
{
	_cleanup_free_ size_t *starts = m->count ? find_steps(m) : NULL;
	_cleanup_free_ uint32_t *latest = NULL; /* by place: where it was seen last, from 1 on */
	struct page_moment *const list = m->list, *sorted;
	size_t first = 0, n = 0, i;

	if (!starts) {
		page_moments_merge(m);
		return;
	}
	latest = xcalloc(places, sizeof(*latest));
	sorted = spare_of(m);
	for (i = 0; i < m->count; i++)
		sorted[starts[list[i].step]++] = list[i];
	for (i = 0; i < m->count; i++) {
		const struct page_moment one = sorted[i];
		uint32_t at = latest[one.place];

		first = n && sorted[n - 1].step != one.step ? n : first;
		if (at > first) {
			sorted[at - 1].samples = sum_of(sorted[at - 1].samples, one.samples);
			continue;
		}
		sorted[n++] = one;
		latest[one.place] = (uint32_t)n;
	}
	*m = (struct page_moments){ .list = sorted,
				    .spare = list,
				    .count = n,
				    .room = m->spare_room,
				    .spare_room = m->room };
}

void page_moments_trim(struct page_moments *m)
{
	free(STEAL(m->spare));
	m->spare_room = 0;
}

/* The samples of a place and task that moments have, by both. */
static uint64_t key_of(const struct page_moment *m)
{
	return (uint64_t)m->place << 32 | m->task;
}

void page_moments_add_rest(struct page_moments *m, struct page_moments *all, uint32_t step)
{
	struct map timed = MAP_INIT;
	size_t i;

	page_moments_merge(all);
	for (i = 0; all->count && i < m->count; i++) {
		uint64_t key = key_of(&m->list[i]);
		uintptr_t sum = (uintptr_t)map_get(&timed, key);

		(void)map_set(&timed, key, (void *)(sum + m->list[i].samples));
	}
	for (i = 0; i < all->count; i++) {
		const struct page_moment *one = &all->list[i];
		uint64_t known = (uintptr_t)map_get(&timed, key_of(one));

		if (one->samples > known)
			page_moments_add(m,
					 (struct page_moment){ one->place, step, one->task,
							       (uint32_t)(one->samples - known) });
	}
	map_done(&timed);
}

void page_moments_done(struct page_moments *m)
{
	free(m->list);
	free(m->spare);
	*m = (struct page_moments){ 0 };
}
