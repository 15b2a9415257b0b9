/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What optop shows: rows with what is known about them. The process that reads the profile writes
 * lines (tools/optop/collect.h), which are parsed here as if an attacker had written them.
 *
 *	struct answer a = ANSWER_INIT;
 *	while (fgets(line, sizeof(line), in))
 *		answer_add_line(&a, line);
 *	answer_arrange(&a, &before, ANSWER_SELF, false);
 *	answer_done(&a);
 */
#pragma once

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first so many rows, and bytes of text, are kept. */
enum { ANSWER_ROWS_MAX = 1 << 16, ANSWER_TEXT_MAX = 8 << 20 };

/* Numbers of the whole answer: name in the lines, and field. */
#define ANSWER_FACTS(X)                                                                            \
	X(samples)	 /* of all rows */                                                         \
	X(matching)	 /* rows that match the search, of which the first ones are here */        \
	X(matching_self) /* their own samples */                                                   \
	X(taken)	 /* samples taken: fewer if they were made rarer to save time */           \
	X(lost)		 /* samples */                                                             \
	X(begin_ms)	 /* when they were taken; 0: not known */                                  \
	X(end_ms)                                                                                  \
	X(cpu_ms)   /* time that there was, of all CPUs */                                         \
	X(hz)	    /* samples per second per busy CPU; 0: not known */                            \
	X(is_time)  /* 1: samples are microseconds off the CPU */                                  \
	X(squares)  /* of their waits, in milliseconds; 0: not known */                            \
	X(chains)   /* samples with call chains; 0: there are none */                              \
	X(complete) /* of these: chains that are complete */                                       \
	X(unnamed)  /* samples without a symbol */                                                 \
	X(spent_us) /* CPU time that the process that reads the profile took since its start */    \
	X(is_empty) /* 1: nothing was sampled of what is shown, which is no failure */             \
	X(whole)    /* 1: all of the window was read for it, not only what is new */

struct answer_row {
	char *name, *image; /* control characters are visible; ->image may be "" */
	uint64_t self, total;
	double low, high; /* 95 % interval of the share that the rows are sorted by, in percent */
	bool is_near;	  /* in its place by chance: its interval overlaps that of the row above */
};

struct answer {
	struct answer_row *rows;
	size_t count, room;
#define X(name) uint64_t name;
	ANSWER_FACTS(X)
#undef X
	char *event;		 /* that is shown, if there are several; or NULL */
	struct strbuf text;	 /* of a page of text, instead of rows */
	struct strbuf complaint; /* what is no part of the answer: errors and warnings */
};

#define ANSWER_INIT ((struct answer){ .text = STRBUF_INIT, .complaint = STRBUF_INIT })

enum answer_order { ANSWER_SELF, ANSWER_TOTAL, ANSWER_NAME };

/* Adds what the line says, which ends before a newline; it is changed. */
void answer_add_line(struct answer *a, char *line);
/* Adds the line as it is to the page of text. */
void answer_add_text(struct answer *a, const char *line, size_t size);
/* Sorts the rows. With @is_calm, rows keep their places in @before unless the difference is more
 * than chance. */
void answer_arrange(struct answer *a, const struct answer *before, enum answer_order order,
		    bool is_calm);
/* @count in percent of all samples. */
double answer_percent(const struct answer *a, uint64_t count);
/* Frees all. */
void answer_done(struct answer *a);
