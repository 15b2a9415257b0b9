/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a tree of the chains of a source. The nodes that chains share in their files are looked at
 * once, not once for each chain, so that a million of them take a fraction of a second.
 *
 *	chains_plant(&collect, end_of_slice);	for each source
 *	chains_plant_sum(chains);
 */
#pragma once

struct chains;
struct chains_collect;
struct slice;

/* Adds the chains of ->source to the tree, and their times if @end is set, which is called with
 * @collect at the end of each slice. 0 or -errno. */
int chains_plant(struct chains_collect *collect,
		 int (*end)(const struct slice *slice, void *collect));
/* Adds up the samples of the functions. */
void chains_plant_sum(struct chains *c);
