/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sample files of a session: found by key, opened on demand, and closed least recently used
 * first, so that descriptors and mapped memory stay limited. Once the limits are reached, counts
 * for a closed file wait in memory, which is also limited, until there are many: opening a file
 * costs as much as some thousand counts. Counts for files that cannot be opened because there are
 * no descriptors or no memory wait there, too. They are lost when too much waits, or at the end.
 *
 *	struct store_file *f = store_get(s, &key);
 *	if (f)
 *		store_add(s, f, offset, 1);
 *	store_flush(s);
 */
#pragma once

#include "record/store/store_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct past;
struct store;
struct store_file;

/* Caller frees. */
struct store *store_new(const struct store_config *config);
/* Flushes and closes all files; NULL is fine. */
void store_free(struct store *s);

/* The sample file of @key, for store_add(); NULL if it cannot be opened, which is logged once for
 * each cause and tried again later. Borrowed until the next call other than store_add(). */
struct store_file *store_get(struct store *s, const struct store_key *key);
/* Adds @count to @key of @f, saturating; possibly delayed. What cannot be written is counted as
 * lost. */
void store_add(struct store *s, struct store_file *f, uint64_t key, uint64_t count);

/* Makes the counts of open files visible to readers. */
void store_settle(struct store *s);
/* Which files are to be dealt with, and until when. */
struct store_choice {
	uint64_t
		until_tick; /* used or, if closed, with counts since, not after this store_tick() */
	bool by_opening;    /* ->until_tick is when open files were opened, however they are used */
	bool (*leaves)(const struct store_key *key, void *data); /* or NULL: all keys */
	void *data;
	uint64_t until_ns; /* CLOCK_MONOTONIC; 0: no limit, and failed files are tried */
};
/* Writes the waiting counts of the chosen files; with @open closes those that are open, too.
 * Returns whether it was done with all in time. */
bool store_leave(struct store *s, const struct store_choice *choice, bool open);
/* Begins a turn: opens files that could not all be opened in the last one, until @until_ns. Returns
 * whether there are more. */
bool store_turn(struct store *s, uint64_t until_ns);
/* The time, as the number of store_get(). */
uint64_t store_tick(const struct store *s);
/* Whether descriptors or memory are lacking: no file will be opened for a while. */
bool store_is_lacking(const struct store *s);
/* Writes all counts, except those that wait because of that; tries files that failed again at
 * once. */
void store_flush(struct store *s);
/* Writes all counts; what has to wait is lost, and counted. */
void store_end(struct store *s);
/* Flushes, then closes all sample files. */
void store_close_all(struct store *s);

/* What counts for the session's history; NULL if there is none. Borrowed. */
struct past *store_past(const struct store *s);

/* The losses so far. */
uint64_t store_lost(const struct store *s, enum store_loss loss);
/* Samples that wait for their file. */
uint64_t store_waiting(const struct store *s);
/* Number of open files, and the bytes that they map. */
size_t store_open_files(struct store *s, size_t *ret_mapped);
