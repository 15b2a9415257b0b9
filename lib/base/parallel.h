/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work that falls into independent parts, done on all CPUs. Which thread does which part is not
 * known before, so what comes out must not depend on it: let each part have a place of its own.
 *
 *	static void name_chunk(size_t i, unsigned int thread, void *data);
 *	parallel_each(chunks, name_chunk, &naming);
 */
#pragma once

#include <stddef.h>

enum { PARALLEL_MAX = 16 };

/* How many threads parallel_each() uses at most: as many as there are CPUs that this process may
 * run on, up to PARALLEL_MAX. */
unsigned int parallel_threads(void);

/* Calls @work once with each number below @count and returns when all is done. @thread, below
 * parallel_threads(), tells those apart that run at one time. The caller's own thread takes part;
 * others that cannot be had are done without. */
void parallel_each(size_t count, void (*work)(size_t i, unsigned int thread, void *data),
		   void *data);
