/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads unwind tables as the sampling program asks for them, in a thread of its own: whoever
 * records samples may be busy for long, and meanwhile chains would end for want of a table.
 *
 *	struct table_loader *loader;
 *	if (table_loader_start(sampler, parser, 64 << 20, &loader, err) == 0)
 *		...
 *	table_loader_stop(loader);
 */
#pragma once

#include "driver/bpf/table_store.h"

struct table_loader;

/* Starts the thread, which takes requests until it is stopped; 0 or -errno. @sampler and
 * @parser (may be NULL) must outlive it. */
int table_loader_start(struct sampler *sampler, struct parser *parser, size_t budget,
		       struct table_loader **ret, struct error *err);
/* Loads the table of the file open as @fd, if it has one and there is room, before it is asked for.
 * Nothing may be sampled meanwhile. */
void table_loader_expect(struct table_loader *l, int fd);
/* Ends the thread and frees the tables; NULL is fine. */
void table_loader_stop(struct table_loader *l);

/* What it has loaded so far. */
void table_loader_stats(struct table_loader *l, struct table_store_stats *ret);
