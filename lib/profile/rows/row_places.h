/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where in the source the functions of rows begin, by debug information of their files or, if these
 * are gone, by what was kept of it.
 *
 *	row->needs_place = true;
 *	row_places_find(&container, gather, binaries);
 *	if (row->place.file)
 *		puts(row->place.file);
 */
#pragma once

struct binaries;
struct container;
struct gather;

/* Sets ->place of the symbols among the rows that need it. Each image is opened once; of a kernel
 * and of code in memory, nothing is found. Names of files belong to the container. */
void row_places_find(struct container *c, const struct gather *g, struct binaries *bs);
/* The same of all rows. */
void row_places_find_all(struct container *c, const struct gather *g, struct binaries *bs);
/* For qsort() of pointers to rows: by image, then by address. */
int row_places_compare(const void *pa, const void *pb);
