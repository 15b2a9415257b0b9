/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tasks that the samples of a page are divided by. A host can have made 50,000 containers in a
 * month, whose names alone would take more room than a file has: then those with the fewest samples
 * are one task, which is not separated.
 *
 *	struct page_tasks t = { 0 };
 *	page_tasks_begin(&t, chains, 2000);
 *	number = page_tasks_number(&t, task);
 *	page_tasks_done(&t);
 */
#pragma once

#include "profile/rows/task_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chains;

struct page_tasks {
	struct task_list list;	     /* those of the page */
	const struct chains *chains; /* NULL: the list is the caller's */
	bool *is_other;		     /* by task of the chains; NULL: none is */
	size_t others;		     /* how many are one task */
};

/* Chooses the @most tasks of the chains, which are borrowed, that have the most samples. */
void page_tasks_begin(struct page_tasks *t, const struct chains *c, size_t most);
/* The number on the page of a task of the chains; 0 if samples are not divided. */
uint32_t page_tasks_number(struct page_tasks *t, uint32_t task);
void page_tasks_done(struct page_tasks *t);
