/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lists that reports of call chains print, in each of their forms: folded stacks, and functions
 * by the samples with them; and what --top and --threshold leave out.
 *
 *	struct child *all = chains_children(report->chains, true, &count);
 *	for (i = 0; i < count; i++)
 *		if (chains_take(report, i, all[i].inclusive, all[i].self, &left))
 *			puts(all[i].text);
 *	free(all);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chains;
struct report;
struct row;

/* What --top and --threshold leave out: chains, stacks or functions, and their samples. */
struct left_out {
	size_t count;
	uint64_t samples;
};

/* A stack, "app;outermost;...;innermost". */
struct folded {
	char *text;
	uint64_t samples;
	bool is_left_out;
};

/* A line of the list: a function, or the mark of all chains that end early for the same reason. */
struct child {
	const struct row *row; /* NULL: a mark */
	const char *text;      /* borrowed */
	uint64_t inclusive, self;
};

/* Whether the @i-th in the order of samples is shown. If not, adds @own samples to @left. */
bool chains_take(const struct report *r, size_t i, uint64_t samples, uint64_t own,
		 struct left_out *left);
/* Lists all stacks, sorted by text, with equal ones added up, those that are not shown marked, and
 * summed in *@left. The caller frees the texts and the array. */
size_t chains_fold(const struct report *r, struct folded **ret, struct left_out *left);
/* Returns the functions, and with @marks the marks, by their inclusive counts; caller frees. */
struct child *chains_children(const struct chains *c, bool marks, size_t *ret_count);
