/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the chains that the sampling program takes in the kernel with those that libdw makes
 * from the copies that perf takes in the same interrupts.
 *
 *	in_kernel_new(cookies, depth, &k, err);
 *	in_kernel_begin(k, pid);
 *	link = in_kernel_attach(k, event);
 *	in_kernel_theirs(k, chain);		for each of perf's samples
 *	in_kernel_drain(k);			now and then, and when the event is closed
 *	in_kernel_end(k, true);
 *	in_kernel_tell(k);
 *	in_kernel_free(k);
 */
#pragma once

#include "base/error.h"
#include "differ_chain.h"

struct in_kernel;

/* Loads the program, for chains of @depth; @cookies is borrowed. 0, or -errno with the reason;
 * caller frees. */
int in_kernel_new(struct cookie_table *cookies, unsigned int depth, struct in_kernel **ret,
		  struct error *err);
/* NULL is fine. */
void in_kernel_free(struct in_kernel *k);

/* Samples of the process @pid come. */
void in_kernel_begin(struct in_kernel *k, uint32_t pid);
/* Has the program see the samples of @event, which still come through its ring; a descriptor that
 * keeps it so, or -errno. */
int in_kernel_attach(struct in_kernel *k, int event);
/* Takes a chain of theirs, and owns it. */
void in_kernel_theirs(struct in_kernel *k, struct chain *chain);
/* Takes over what the program has counted; 0 or -errno. */
void in_kernel_drain(struct in_kernel *k);
/* No more will come: compares what there is, unless it shall not count, and forgets it. Whether all
 * tables that were wanted were there. */
bool in_kernel_end(struct in_kernel *k, bool counts);
/* Prints what came of it; whether that is as it should be. */
bool in_kernel_tell(const struct in_kernel *k);
