/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts unwind tables into the maps of the BPF sampling program as it requests them, and drops
 * tables when memory, or the number of files that the program can tell apart, runs out. The caller
 * owns the store and frees it.
 *
 *	struct table_store *tables;
 *	if (table_store_new(sampler, parser, 64 << 20, &tables, err) == 0)
 *		table_store_load(tables, &file, fd);
 *	table_store_free(tables);
 */
#pragma once

#include "base/error.h"
#include "driver/bpf/sampler.h"
#include "stats/counters.h"

struct opener;
struct parser;
struct table_store;

/* Totals of the store. */
struct table_store_stats {
	struct unwind_counters counters;
	uint64_t rows_held, bytes; /* in use now; ->bytes is memory for rows */
};

/* Creates an empty store in the maps of @sampler, which is borrowed, for at most @budget bytes of
 * rows; @parser (borrowed, may be NULL) reads the files. Returns 0 or -errno; caller frees. */
int table_store_new(struct sampler *sampler, struct parser *parser, size_t budget,
		    struct table_store **ret, struct error *err);
/* Frees the store; accepts NULL. The sampler must still exist. */
void table_store_free(struct table_store *t);

/* Builds the table of @file, open as @fd (-1: a vdso, see struct sample_file), and makes it
 * available to the program. Remembers files without a table. If there is no room, drops the tables
 * unused for longest, but only every few drains. */
void table_store_load(struct table_store *t, const struct sample_file *file, int fd);
/* Does the same for the file of @image, which @opener opens and the parser of its own reads; if it
 * cannot be opened, as table_store_give_up(). */
void table_store_load_image(struct table_store *t, struct opener *opener,
			    const struct sample_image *image);
/* Does the same before the program asks for it, but only if there is room: drops no other table. */
void table_store_expect(struct table_store *t, const struct sample_file *file, int fd);
/* Does the same for the file of @image, which @opener opens. Returns whether it was not known. */
bool table_store_expect_image(struct table_store *t, struct opener *opener,
			      const struct sample_image *image);
/* Does one step of slow work that can wait until there are no requests. Returns whether there is
 * more. */
bool table_store_prepare(struct table_store *t);
/* Whether files were refused because there was no room; see table_store_retry(). */
bool table_store_refuses(const struct table_store *t);
/* Makes the program request refused files again, if other tables may now be dropped for them, and
 * files that had no table some minutes ago. */
void table_store_retry(struct table_store *t);
/* Marks @file as one that cannot be opened, so that the program does not request it again. */
void table_store_give_up(struct table_store *t, const struct sample_file *file);

/* Reports the store's totals. */
void table_store_stats(const struct table_store *t, struct table_store_stats *ret);
