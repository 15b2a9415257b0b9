/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sample files of a session: found by what tells them apart, opened when first needed, closed
 * longest unused first so that descriptors and mapped memory stay within bounds. Once the bounds
 * are reached, counts for a file that is closed wait in memory, also bounded, until there are many
 * of them: opening a file costs as much as some thousand counts.
 *
 *	struct store_file *f = store_get(s, &key);
 *	if (f)
 *		store_add(s, f, offset, 1);
 *	store_flush(s);
 */
#pragma once

#include "record/internal/store_types.h"

#include <stddef.h>
#include <stdint.h>

struct store;
struct store_file;

/* Caller frees. */
struct store *store_new(const struct store_config *config);
/* Flushes and closes all; NULL is fine. */
void store_free(struct store *s);

/* The sample file of @key, for store_add(); NULL if it cannot be opened now: said once for each
 * cause, tried again after a while. Borrowed until the next call but store_add(). */
struct store_file *store_get(struct store *s, const struct store_key *key);
/* Adds @count, saturating, to @key of @f, soon. What cannot be written is counted as lost. */
void store_add(struct store *s, struct store_file *f, uint64_t key, uint64_t count);

/* Makes the counts of open files visible to readers. */
void store_settle(struct store *s);
/* Writes all counts there are; what failed before is tried again at once. */
void store_flush(struct store *s);
/* Flushes, then closes all sample files. */
void store_close_all(struct store *s);

/* Whose counts could not be written. */
enum store_loss {
	STORE_LOST_SAMPLES,
	STORE_LOST_EXTENDED, /* of events that are not counted in samples */
	STORE_LOSS_COUNT_
};
/* How much that was so far. */
uint64_t store_lost(const struct store *s, enum store_loss loss);
/* Number of files open; the bytes that they map. */
size_t store_open_files(struct store *s, size_t *ret_mapped);
