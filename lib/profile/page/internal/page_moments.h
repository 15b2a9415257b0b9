/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the samples of a page's tree were taken: a count for each node and step of time that has
 * any.
 *
 *	struct page_moments m = { 0 };
 *	page_moments_add(&m, (struct page_moment){ node, step, samples });
 *	page_moments_merge(&m);
 *	page_moments_done(&m);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct page_moment {
	uint32_t place, step; /* ->place: of the node in the tree, or what the caller numbers */
	uint64_t samples;
};

struct page_moments {
	struct page_moment *list;
	size_t count, room;
};

void page_moments_add(struct page_moments *m, struct page_moment moment);
/* Sorts by place and step, and adds up those that are equal in both. */
void page_moments_merge(struct page_moments *m);
void page_moments_done(struct page_moments *m);
