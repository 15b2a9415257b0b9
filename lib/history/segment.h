/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A segment of a history: a file that is never changed, with the counts of some generations in
 * slices of one length, and with its own names (man ophistory.5). All data read from it is treated
 * as untrusted.
 *
 *	if (segment_open(path, &s, err) == 0 && segment_load(s, err) == 0)
 *		for (i = 0; i < segment_about(s)->slices; i++)
 *			segment_counts(s, i, &counts);
 *	segment_free(s);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "history/segment_slice.h"
#include "history/segment_tree.h"

#include <stddef.h>
#include <stdint.h>

struct segment;
struct segment_made;

struct segment_about {
	uint32_t level, first, last; /* generations */
	struct window span;	     /* from the first slice's begin to the last one's end */
	size_t slices, nodes, lines;
	size_t places;		  /* different lines and keys of nodes; 0: not known */
	uint64_t samples, counts; /* of all slices */
	uint64_t bytes;		  /* of the file */
};

/* Opens the segment at @path, and reads its header and its index. Returns 0 (the caller frees) or
 * -errno. */
int segment_open(const char *path, struct segment **ret, struct error *err);
/* The same with the bytes of a segment in memory, which are borrowed. */
int segment_open_bytes(const void *bytes, size_t size, struct segment **ret, struct error *err);
/* A segment of what is in memory (history/segment_made.h), which it takes. It is loaded, and has no
 * totals. The caller frees. */
struct segment *segment_of(struct segment_made *m);
/* NULL is allowed. */
void segment_free(struct segment *s);
DEFINE_CLEANUP(struct segment *, segment_free);

const struct segment_about *segment_about(const struct segment *s);
/* Its path, for messages. */
const char *segment_name(const struct segment *s);
const struct segment_slice *segment_slice_at(const struct segment *s, size_t i);
/* Reads names and nodes. 0 or -errno. */
int segment_load(struct segment *s, struct error *err);
/* Each of the two alone. The nodes of a file whose names were read can be read later: they are then
 * known to be those that were written, but not that these are valid. */
int segment_load_names(struct segment *s, struct error *err);
int segment_load_nodes(struct segment *s, struct error *err);
/* Frees the names of a file. */
void segment_unload_names(struct segment *s);
/* Frees what was read of a segment that is a file but its index. Counts can be read as before. */
void segment_unload(struct segment *s);
/* The name with number @i, from 1 on; after segment_load_names(). */
const char *segment_line(const struct segment *s, uint32_t i);
/* Hands over the memory of all names, which stay where they are; the caller frees it. NULL if the
 * segment is not a file that was loaded. */
char *segment_take_text(struct segment *s);
/* A node, from 1 on; after segment_load_nodes(). */
struct segment_node segment_node_at(const struct segment *s, uint32_t i);
/* Its parent alone. */
uint32_t segment_parent(const struct segment *s, uint32_t i);
/* The number of its line and key, from 1 on; 0: not known. */
uint32_t segment_place(const struct segment *s, uint32_t i);
/* Both of all nodes of a segment that is a file, from 1 on, until segment_unload(). */
const uint32_t *segment_parents(const struct segment *s);
const uint32_t *segment_places(const struct segment *s);
/* The line and the key that have a number, of a file; the parent is 0. */
struct segment_node segment_place_at(const struct segment *s, uint32_t place);
/* All nodes as an array, which takes more memory, until segment_unload(). */
const struct segment_node *segment_nodes(struct segment *s);
/* Reads the counts of slice @i, which are valid until the next call. 0 or -errno. */
int segment_counts(struct segment *s, size_t i, struct segment_counts *ret);
/* Reads the sums of all slices, by node from 1 on, valid until segment_unload(). 0 or -errno. */
int segment_totals(struct segment *s, const uint64_t **ret, struct error *err);
/* Whether the totals are the sums of the slices, and the header's sums those of both. 0 or -errno,
 * -EBADMSG if not. */
int segment_check(struct segment *s, struct error *err);
