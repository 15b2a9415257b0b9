/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the functions of files that are sampled (symbol/function_store.h), while a process still
 * shows these files. An opener does so at once, in a thread that may wait; identity/finder.c puts
 * off what will still be there later. Without one, files are opened at once, and read in one of the
 * next rounds.
 *
 *	struct keep_functions keep = { .store = store, .parser = parser };
 *	keep_functions_soon(&keep, image, &where);	with the first sample
 *	keep_functions_work(&keep, 10000000);		now and then
 *	keep_functions_done(&keep);
 */
#pragma once

#include "symbol/function_store.h"

struct cookie_image;
struct cookie_mapped;
struct functions_ahead;
struct opener;
struct parser;

enum { KEEP_FUNCTIONS_FILES = 64 };

/* All are borrowed; NULL: nothing is kept. */
struct keep_functions {
	struct function_store *store;
	struct parser *parser;
	struct {
		int fd;
		char key[FUNCTION_KEY];
	} files[KEEP_FUNCTIONS_FILES]; /* to be read, ->count of them */
	size_t count;
};

/* What functions that are read at once go through; all are borrowed. */
struct keep_now {
	struct function_store *store;
	struct opener *opener;
	struct functions_ahead *ahead;
};

/* Has the functions of @image read and keeps them, if they are not kept yet. If @may_wait, not
 * those of a file that is settled: then it returns true. */
bool keep_functions_now(const struct keep_now *by, const struct cookie_image *image,
			const struct cookie_mapped *where, bool may_wait);
/* Has the functions of @image, which was executed, read in case that it is sampled, unless it will
 * still be there then, or is so large that this takes long. */
void keep_functions_ahead(const struct keep_now *by, const struct cookie_image *image,
			  const struct cookie_mapped *where);

/* Opens the file of @image, if its functions are not kept yet. */
void keep_functions_soon(struct keep_functions *k, const struct cookie_image *image,
			 const struct cookie_mapped *where);
/* Reads files for @ns, or a little longer. */
void keep_functions_work(struct keep_functions *k, uint64_t ns);
/* Closes those that were not read. */
void keep_functions_done(struct keep_functions *k);
