/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables for the images of all processes, by cookie, and the unwinding of a sample's copied
 * stack by them against the mappings of its process.
 *
 *	struct unwinder *u = unwinder_new(cookies, root, 0);
 *	stop = unwinder_chain(u, process, &stack, pcs, depth, &count);
 *	unwinder_round(u);	at each sync
 *	unwinder_free(u);
 */
#pragma once

#include "identity/cookie.h"
#include "process/process.h"
#include "perf/user_stack.h"
#include "unwind/unwind_cache.h"

struct unwinder;

/* Makes one for images of @cookies, on a machine whose /proc is below @root (both borrowed), with
 * tables of @budget bytes (0: DRIVER_UNWIND_DEFAULT); caller frees. */
struct unwinder *unwinder_new(const struct cookie_table *cookies, const char *root, size_t budget);
/* Frees; NULL is fine. */
void unwinder_free(struct unwinder *u);
DEFINE_CLEANUP(struct unwinder *, unwinder_free);

/* The table of the image @cookie, built now if need be, opened where @where says it is mapped:
 * CHAIN_GOES_ON, or why there is none. Borrowed until the next call. */
enum chain_end unwinder_table(struct unwinder *u, uint64_t cookie,
			      const struct cookie_mapped *where, const struct unwind_table **ret);

/* Unwinds @stack of @process: writes at most @max PCs to @pcs, the innermost, where user space was,
 * first, the others return addresses; their number in *@ret_count (at least 1); returns why there
 * are no more. */
enum chain_end unwinder_chain(struct unwinder *u, const struct process *process,
			      struct user_stack *stack, uint64_t *pcs, size_t max,
			      size_t *ret_count);

/* A round of samples ends: see unwind_cache_round(). */
void unwinder_round(struct unwinder *u);
/* The rules of all tables. */
const struct unwind_rules *unwinder_rules(const struct unwinder *u);
/* Totals of the tables; borrowed. */
const struct unwind_cache_stats *unwinder_stats(const struct unwinder *u);
