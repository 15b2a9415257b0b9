/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the source lines and inlined calls of the functions that are hottest, while a process or a
 * path still shows their file (symbol/function_store.h). It knows which code of a file was read
 * already, so that asking again costs nothing. After each file there is a pause, so that a start,
 * which meets all files at once, takes little of the CPUs.
 *
 *	struct line_keeper *k = line_keeper_new();
 *	line_keeper_keep(k, store, opener, &question);
 *	line_keeper_free(k);
 */
#pragma once

#include <stdint.h>

struct cookie_image;
struct cookie_mapped;
struct function_store;
struct line_keeper;
struct opener;
struct parser_places;

/* The image, where a process has it mapped, and its hottest places. */
struct line_question {
	const struct cookie_image *image;
	const struct cookie_mapped *where;
	const struct parser_places *hottest;
};

/* Caller frees. */
struct line_keeper *line_keeper_new(void);
/* NULL is fine. */
void line_keeper_free(struct line_keeper *k);
/* Has @opener read the lines of the functions at the hottest places, if they were not read yet, and
 * keeps them. What has to wait is to be asked for again; the store counts it. */
void line_keeper_keep(struct line_keeper *k, struct function_store *store, struct opener *opener,
		      const struct line_question *q);
