/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lists that reports of call chains print, in each of their forms: folded stacks, and functions
 * by the samples with them; and what --top and --threshold leave out.
 *
 *	struct child *all = chains_children(report->chains, true, &count);
 *	for (i = 0; i < count; i++)
 *		if (chains_take(report, i, chains_child_samples(&all[i]), all[i].self, &left))
 *			puts(all[i].text);
 *	free(all);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chains;
struct chains_line;
struct report;
struct row;
struct strbuf;

/* What --top and --threshold leave out: chains, stacks or functions, and their samples. */
struct left_out {
	size_t count;
	uint64_t samples;
};

/* Samples in the profile, and in the one that it is compared with. */
struct chains_samples {
	uint64_t now, before;
};

/* Is called with a stack, "app;outermost;...;innermost". */
typedef void chains_stack(const struct report *r, const char *text, struct chains_samples samples,
			  void *data);

/* Stacks that are not shown. */
struct chains_rest {
	struct left_out left;
	uint64_t before; /* their samples in the profile that this one is compared with */
};

/* A line of the list: a function, or the mark of all chains that end early for the same reason. */
struct child {
	const struct row *row;	  /* NULL: a mark */
	const char *text;	  /* borrowed */
	uint64_t inclusive, self; /* of the first of two profiles if only that has the row */
	uint64_t rank;		  /* those with the lowest come first */
};

/* Adds "[image]"; "[kernel]" and "[JIT node]" have their brackets. */
void chains_add_bracketed(struct strbuf *b, const struct report *r, uint32_t image);
/* The samples of a line. */
struct chains_samples chains_line_samples(const struct chains *c, const struct chains_line *line);
/* The inclusive samples of a function or mark. */
struct chains_samples chains_child_samples(const struct child *child);
/* Whether the @i-th in the order of samples is shown. If not, adds @own samples to @left. */
bool chains_take(const struct report *r, size_t i, struct chains_samples samples, uint64_t own,
		 struct left_out *left);
/* Calls @each with each stack that is shown, sorted by text; equal ones are one. Returns what is
 * left out. */
struct chains_rest chains_fold(const struct report *r, chains_stack *each, void *data);
/* Returns the functions, and with @marks the marks, by their inclusive counts; caller frees. */
struct child *chains_children(const struct chains *c, bool marks, size_t *ret_count);
