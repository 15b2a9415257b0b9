/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads unwind tables on request of the BPF sampling program, in a separate thread: the thread that
 * records samples may be busy for long, and until a table is loaded chains end early. The caller
 * owns the loader and stops it.
 *
 *	struct table_loader *loader;
 *	if (table_loader_start(sampler, cookies, 64 << 20, &loader, err) == 0)
 *		...
 *	table_loader_stop(loader);
 */
#pragma once

#include "driver/bpf/table_store.h"

struct cookie_table;
struct table_loader;

/* Starts the thread, which serves requests until it is stopped. Returns 0 or -errno. @sampler and
 * the parser and the opener of @cookies (may be NULL), which read the files, must outlive it. */
int table_loader_start(struct sampler *sampler, const struct cookie_table *cookies, size_t budget,
		       struct table_loader **ret, struct error *err);
/* Loads the table of the file open as @fd in advance, if it has one and there is room. Sampling
 * must be stopped meanwhile. */
void table_loader_expect(struct table_loader *l, int fd);
/* Ends the thread and frees the tables; accepts NULL. */
void table_loader_stop(struct table_loader *l);

/* Reports what was loaded so far. */
void table_loader_stats(struct table_loader *l, struct table_store_stats *ret);
