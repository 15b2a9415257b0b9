/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leaves out of the tables in symbols/ (man opsymbols) the functions that nothing is kept of: of
 * files that were not sampled for long, in all sessions that share the directory. Most files are
 * sampled in a few of their functions, and a table has thousands. When such a file is sampled
 * again, all of its functions are read again (symbol/function_store.h).
 *
 *	struct cut_functions how = { now - 86400, .bytes_least = 1 << 20, .memory_max = 32 << 20 };
 *	cut_functions(samples, &how);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct cut_functions {
	int64_t until_s;      /* only tables that were used last before */
	uint64_t bytes_least; /* only if they have so many bytes together; a search takes a while */
	size_t memory_max;    /* of the tables of one run; the rest is left to the next one */
};

/* Cuts the tables next to the session at @samples: at least one, even if it takes more memory. Each
 * is replaced in one step, so it may be interrupted anywhere. If anything that may have samples
 * cannot be read, or a session is renamed meanwhile, nothing is cut. */
void cut_functions(const char *samples, const struct cut_functions *how);
