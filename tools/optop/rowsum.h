/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of optop's answers, kept as counts per stretch of time, so that only the newest stretch is
 * read for an answer: the sum of all stretches is what is shown, and those that have become too old
 * are subtracted.
 *
 *	struct rowsum *t = rowsum_new();
 *	rowsum_add(t, "main", "fib", 3, 7);
 *	rowsum_end(t, &(struct rowsum_facts){ .begin_ms = 0, .end_ms = 1000 }, 0);
 *	rowsum_drop(t, 1000 - window_ms);
 *	rowsum_print(t, &(struct rowsum_choice){ .limit = 200 }, stdout);
 *	rowsum_free(t);
 */
#pragma once

#include "base/macro.h"
#include "tools/optop/optop_answer.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Numbers of a stretch, whose sum is a fact of the answer (tools/optop/optop_answer.h). */
#define ROWSUM_FACTS(X)                                                                            \
	X(samples)                                                                                 \
	X(taken)                                                                                   \
	X(lost)                                                                                    \
	X(cpu_ms)                                                                                  \
	X(chains)                                                                                  \
	X(complete)                                                                                \
	X(unnamed)

struct rowsum_facts {
	int64_t begin_ms, end_ms; /* equal: it has no time */
#define X(name) uint64_t name;
	ROWSUM_FACTS(X)
#undef X
};

/* Which rows are printed. */
struct rowsum_choice {
	enum answer_order order; /* the first ones in it */
	size_t limit;		 /* at most so many */
	const char *search;	 /* only those with this text in name or image; NULL: all */
};

struct rowsum;

/* Caller frees. */
struct rowsum *rowsum_new(void);
/* NULL is fine. */
void rowsum_free(struct rowsum *t);
DEFINE_CLEANUP(struct rowsum *, rowsum_free);

/* Adds to a row of the stretch that rowsum_end() ends. */
void rowsum_add(struct rowsum *t, const char *name, const char *image, uint64_t self,
		uint64_t total);
/* Ends the stretch of these facts. It becomes part of the one before it if both together are not
 * longer than @grain_ms. */
void rowsum_end(struct rowsum *t, const struct rowsum_facts *facts, int64_t grain_ms);
/* Subtracts the stretches that ended at @before_ms or earlier. */
void rowsum_drop(struct rowsum *t, int64_t before_ms);
/* Subtracts all, and forgets the names. */
void rowsum_clear(struct rowsum *t);
/* How many names it knows, of rows with samples or without. */
size_t rowsum_names(const struct rowsum *t);
/* The sums, and the time from the begin of the first stretch to the end of the last one. */
struct rowsum_facts rowsum_facts(const struct rowsum *t);
/* Prints the facts, and the chosen ones of the rows that have samples, as lines of an answer. */
void rowsum_print(const struct rowsum *t, const struct rowsum_choice *choice, FILE *out);
