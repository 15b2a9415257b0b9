/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a tree of the chains of a source. The nodes that chains share in their files are looked at
 * once, not once for each chain, so that a million of them take a fraction of a second.
 *
 *	chains_plant(&collect);	for each source
 *	chains_plant_end(&collect);
 */
#pragma once

struct chains;
struct chains_collect;

/* Adds the chains of ->source to the tree; if there are steps of time, notes where each ends. 0 or
 * -errno. */
int chains_plant(struct chains_collect *collect);
/* Merges the chains of ->source that were added into the tree, and gives what refers to them the
 * numbers of nodes of that. */
void chains_plant_merge(struct chains_collect *collect);
/* Adds up the samples of the functions. */
void chains_plant_end(struct chains_collect *collect);
