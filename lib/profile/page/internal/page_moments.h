/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When, and by which task, the samples of a page's tree were taken: a count for each node, step of
 * time and task that has any.
 *
 *	struct page_moments m = { 0 };
 *	page_moments_add(&m, (struct page_moment){ node, step, task, samples });
 *	page_moments_merge(&m);
 *	page_moments_done(&m);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct page_moment {
	uint32_t place, step; /* ->place: of the node in the tree, or what the caller numbers */
	uint32_t task;	      /* 0 unless samples are divided by task */
	uint32_t samples;     /* at most UINT32_MAX, which is the largest number in a page */
};

struct page_moments {
	struct page_moment *list, *spare; /* the latter is for page_moments_gather() */
	size_t count, room, spare_room;
};

void page_moments_add(struct page_moments *m, struct page_moment moment);
/* Sorts by place, step and task, and adds up those that are equal in all. */
void page_moments_merge(struct page_moments *m);
/* The same, in the order of steps, in time that is linear unless there are tasks. All places are
 * below @places. */
void page_moments_gather(struct page_moments *m, size_t places);
/* Frees what only page_moments_gather() needs. */
void page_moments_trim(struct page_moments *m);
/* Adds the samples that @all have for a place and task, in whatever step, and @m do not; these are
 * in @step. */
void page_moments_add_rest(struct page_moments *m, struct page_moments *all, uint32_t step);
void page_moments_done(struct page_moments *m);
