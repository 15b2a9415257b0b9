/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chains of one sample by two unwinders, compared frame by frame.
 *
 *	ours = chain_new(process->maps, tid, pcs, count);
 *	tally_add(&tally, cookies, ours, theirs);
 *	tally_tell(&tally, "copied stacks");
 */
#pragma once

#include "bpf/sample.h"
#include "identity/cookie.h"
#include "stream/evbuf.h"
#include "process/maps.h"

/* The innermost first; in memory without a file a frame has no cookie, and its address. */
struct chain {
	uint32_t tid;
	uint32_t count;	  /* of frames */
	unsigned int end; /* enum chain_end: why there are no more; of theirs 0 */
	struct evbuf_frame frames[];
};

enum verdict {
	VERDICT_SAME,
	VERDICT_DIFFERENT,
	VERDICT_SHORTER, /* all of ours is the beginning of theirs */
	VERDICT_LONGER,
	VERDICT_SKIPPED, /* they lack a frame that is true */
	VERDICT_WAITING, /* ours ends where the table was not loaded yet */
	VERDICT_COUNT_
};

/* Makes a chain of @count addresses of a process with @maps, up to one where there is no code:
 * that is where unwinders go astray. Caller frees. */
struct chain *chain_new(const struct maps *maps, uint32_t tid, const uint64_t *pcs, size_t count);
/* What our chain is to theirs. */
enum verdict chain_compare(const struct cookie_table *cookies, const struct chain *ours,
			   const struct chain *theirs);

/* What came of comparing. */
struct tally {
	uint64_t chains, frames; /* ours */
	uint64_t verdicts[VERDICT_COUNT_];
	uint64_t ends[CHAIN_END_COUNT_];
};

/* Compares our chain with theirs, and prints the first ones that ought to be the same. */
void tally_add(struct tally *t, const struct cookie_table *cookies, const struct chain *ours,
	       const struct chain *theirs);
/* Prints it as that of @what. */
void tally_tell(const struct tally *t, const char *what);
/* Whether no chain differs, no more than one or 0.2 % end before theirs, and tables were loaded for
 * most. */
bool tally_is_good(const struct tally *t);
