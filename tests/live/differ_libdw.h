/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copied stacks of a process unwound by libdw.
 *
 *	struct libdw *l = libdw_new(cookies, pid);
 *	libdw_map(l, process->maps);		where they changed
 *	count = libdw_chain(l, &stack, pcs, max);
 *	libdw_free(l);
 */
#pragma once

#include "identity/cookie.h"
#include "process/maps.h"
#include "perf/user_stack.h"

#include <sys/types.h>

struct libdw;

/* @cookies is borrowed; caller frees. */
struct libdw *libdw_new(const struct cookie_table *cookies, pid_t pid);
/* NULL is fine. */
void libdw_free(struct libdw *l);
/* Says what the process has mapped now; @maps may be NULL. */
void libdw_map(struct libdw *l, const struct maps *maps);
/* Unwinds: at most @max addresses to @pcs, the innermost first; how many. */
size_t libdw_chain(struct libdw *l, struct user_stack *stack, uint64_t *pcs, size_t max);
