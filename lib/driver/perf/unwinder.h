/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinds the stack copy of a sample, using the mappings of its process and the unwind tables of
 * its images. It owns the tables of all images, which it keeps by cookie.
 *
 *	struct unwinder *u = unwinder_new(cookies, root, 0);
 *	stop = unwinder_chain(u, process, &stack, pcs, depth, &count);
 *	unwinder_round(u);	at each sync
 *	unwinder_free(u);
 *
 * If @cookies has an opener, a thread asks it for tables, and for code in memory. Until the answer
 * comes, chains that need it end there (CHAIN_END_NOT_LOADED, or CHAIN_END_UNREADABLE for code).
 * After unwinder_may_wait(), unwinder_waits() says that the answer is expected soon, and that the
 * chain should be unwound again then.
 */
#pragma once

#include "identity/cookie.h"
#include "process/process.h"
#include "perf/user_stack.h"
#include "unwind/unwind_cache.h"

struct unwinder;

/* Creates an unwinder for the images of @cookies, on a machine whose /proc is below @root (both
 * borrowed), with at most @budget bytes of tables (0: DRIVER_UNWIND_DEFAULT). Caller frees. */
struct unwinder *unwinder_new(const struct cookie_table *cookies, const char *root, size_t budget);
/* Frees @u; accepts NULL. */
void unwinder_free(struct unwinder *u);
DEFINE_CLEANUP(struct unwinder *, unwinder_free);

/* Unwinds @stack of @process. Writes at most @max addresses to @pcs, innermost first: the user PC,
 * then return addresses (see unwind_chain_address()). Their number, at least 1, is in *@ret_count.
 * Returns why there are no more. */
enum chain_end unwinder_chain(struct unwinder *u, const struct process *process,
			      struct user_stack *stack, uint64_t *pcs, size_t max,
			      size_t *ret_count);

/* Says whether chains may wait from now on, and that none does so far. */
void unwinder_may_wait(struct unwinder *u, bool may_wait);
/* Whether the last chain waits. */
bool unwinder_waits(const struct unwinder *u);
/* Waits for the next answer, but at most @ms; returns whether one has come. */
bool unwinder_await(struct unwinder *u, int ms);

/* Ends a round of samples: see unwind_cache_round(). */
void unwinder_round(struct unwinder *u);
/* Totals of the tables; borrowed. */
const struct unwind_cache_stats *unwinder_stats(const struct unwinder *u);
