/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history of the call chains of a session, as one of the kinds that history/upkeep.h rolls up
 * (man ophistory.5). Its generations are the pairs of files of the chain store; its segments have
 * the trees of these, whose roots are contexts.
 *
 *	struct upkeep how = { .chains = &history_chains, .chains_live = pair };
 */
#pragma once

#include "history/history_kind.h"

#include <stdbool.h>
#include <stdint.h>

struct error;

extern const struct history_kind history_chains;

/* Finds the number of the pair of files that a writer of the store in @dir begins; without @is_new,
 * that it continues, if there is one that is in no sum. 0 or -errno. */
int chain_history_pair(const char *dir, bool is_new, uint32_t *ret, struct error *err);
/* The number of the next pair of the session at @samples, which nobody writes at present; 0, with
 * which all count as being written, if its directory cannot be read, which is logged. */
uint32_t chain_history_next(const char *samples);
