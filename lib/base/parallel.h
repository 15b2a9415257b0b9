/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work on independent parts, spread over all CPUs. Which thread does which part is not predictable,
 * so let each part write its result to a place of its own.
 *
 *	static void name_chunk(size_t i, unsigned int thread, void *data);
 *	parallel_each(chunks, name_chunk, &naming);
 */
#pragma once

#include <stddef.h>

enum { PARALLEL_MAX = 16 };

/* The number of threads that parallel_each() uses at most: the CPUs that this process may run on,
 * up to PARALLEL_MAX, or 1 after parallel_forbid(). */
unsigned int parallel_threads(void);

/* From now on this process, and those that it forks, use one thread: they have time, and little
 * memory. */
void parallel_forbid(void);

/* Calls @work once with each number below @count and returns when all calls have. @thread, below
 * parallel_threads(), differs between calls that run at the same time. The caller's own thread
 * takes part; if others cannot be created, it goes on with fewer. */
void parallel_each(size_t count, void (*work)(size_t i, unsigned int thread, void *data),
		   void *data);
