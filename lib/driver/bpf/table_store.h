/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables put where the sampling program finds them, as it asks for them.
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

struct parser;
struct table_store;

/* Totals. */
struct table_store_stats {
	struct unwind_counters counters;
	uint64_t rows_held, bytes; /* now; of the memory for rows */
};

/* An empty store in the maps of @sampler, which is borrowed, for at most @budget bytes of rows;
 * @parser (borrowed, may be NULL) reads the files. 0 or -errno; caller frees. */
int table_store_new(struct sampler *sampler, struct parser *parser, size_t budget,
		    struct table_store **ret, struct error *err);
/* NULL is fine; the sampler must still be there. */
void table_store_free(struct table_store *t);

/* Builds the table of @file, which is open as @fd, -1 for the vdso of this process, and has the
 * program find it. A file without a table is remembered as such. Where there is no room, tables go
 * that were not used for longest, but only every few drains. */
void table_store_load(struct table_store *t, const struct sample_file *file, int fd);
/* Likewise, before the program asks for it, if there is room: nothing has to go for it. */
void table_store_expect(struct table_store *t, const struct sample_file *file, int fd);
/* Does a piece of what takes long and can wait until no file is asked for; whether there is more.
 */
bool table_store_prepare(struct table_store *t);
/* Whether files were refused for want of room; and has the program ask for them again, if it is
 * time for other tables to go. */
bool table_store_refuses(const struct table_store *t);
/* Has the program ask again for refused files, once other tables may have been dropped. */
void table_store_retry(struct table_store *t);
/* Says that @file cannot be had. */
void table_store_give_up(struct table_store *t, const struct sample_file *file);

/* What it holds. */
void table_store_stats(const struct table_store *t, struct table_store_stats *ret);
