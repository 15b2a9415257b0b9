/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a page's data say of each step of time: what was recorded in it, and how much of it was
 * lost. The histories are read for it, which takes long, and a page may be printed several times.
 *
 *	page_times_collect(report, &times);
 *	page_times_write(report, &times, &j);
 *	page_times_done(&times);
 */
#pragma once

#include "history/steps.h"

#include <stdint.h>

struct history_cover;
struct json;
struct report;

struct page_times {
	struct steps steps; /* ->count is 0 if time is not divided */
	struct history_cover *cover;
	uint64_t *sampled; /* samples of the event of the chains, also those without a chain */
};

/* Reads the histories of the sessions; the caller calls page_times_done(). */
void page_times_collect(const struct report *r, struct page_times *ret);
/* Writes a member of an open object, unless time is not divided. */
void page_times_write(const struct report *r, const struct page_times *times, struct json *j);
/* Frees all. */
void page_times_done(struct page_times *times);
