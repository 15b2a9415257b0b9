/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies the call chains of a session to another chain store (chain_store.h).
 *
 *	r = chain_merge("samples/before", store, err);
 *	r = chain_repair("samples/current", err);
 */
#pragma once

#include "chains/chain_store.h"
#include "history/window.h"

#include <stdbool.h>

/* Adds all chains of the session at @samples to @to. Returns 0 or -errno (-ENOENT if there are
 * none). */
int chain_merge(const char *samples, struct chain_store *to, struct error *err);
/* What chain_copy() copies. */
struct chain_copying {
	const struct window *window; /* slices that have an instant in common with it; NULL: all
				      * chains, without slices */
	/* Whether the chains are wanted whose samples are in the sample file @name. */
	bool (*wanted)(const struct sname *name, void *data);
	void *data;
};

/* Copies a part of the chains of the session at @from to a new store of the session at @to, which
 * must exist. Returns 0 or -errno (-ENOENT if there are none in the window). */
int chain_copy(const char *from, const struct chain_copying *what, const char *to,
	       struct error *err);
/* Rewrites the session's files with all valid chains and slices. Returns 0, or -errno with the old
 * files kept. Must not run while a writer is active. */
int chain_repair(const char *samples, struct error *err);
