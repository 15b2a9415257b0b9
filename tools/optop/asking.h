/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks for a page of text without waiting: a tool makes it in a process of its own, and writes it
 * into a pipe.
 *
 *	struct asking *a;
 *	if (asking_begin(&what, &a, err) == 0)
 *		while (!asking_go_on(a))
 *			poll(&(struct pollfd){ asking_fd(a), POLLIN }, 1, -1);
 *	asking_end(a, &answer);
 */
#pragma once

#include "base/macro.h"
#include "tools/optop/optop_answer.h"
#include "tools/optop/collect.h"

#include <stdbool.h>

/* What is shown: the rows (tools/optop/worker.h), or a page of text about one of them. */
enum asking_page { ASKING_ROWS, ASKING_CALLS, ASKING_SOURCE, ASKING_ASSEMBLY, ASKING_HEADER };

struct asking_what {
	struct question question;
	enum asking_page page; /* not ASKING_ROWS */
	const char *name;      /* of the function, unless ASKING_HEADER */
};

struct asking;

/* Begins; 0, the caller calls asking_end(); or -errno. */
int asking_begin(const struct asking_what *what, struct asking **ret, struct error *err);
/* Becomes readable when there is more of the answer. */
int asking_fd(const struct asking *a);
/* Reads what there is. Returns whether the answer is complete. */
bool asking_go_on(struct asking *a);
/* Ends the process and frees all; adds what was read to @ret, unless that is NULL. */
void asking_end(struct asking *a, struct answer *ret);
