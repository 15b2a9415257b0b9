/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes counters to the stats/ of a session. A thread does it: a counter that has another digit is
 * a new file, which waits for the disk, and the caller has samples to drain.
 *
 *	struct stat_writer *w = stat_writer_new(samples);
 *	stat_writer_note(w, "lost_samplefile", lost, &written);
 *	r = stat_writer_begin(w, err);		or, with a wait, stat_writer_finish(w, err)
 *	stat_writer_free(w);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct stat_writer;

/* A writer for the session whose sample files are in @samples, which is copied. Caller frees. */
struct stat_writer *stat_writer_new(const char *samples);
/* Waits for the thread; what it was not given is lost. NULL is fine. */
void stat_writer_free(struct stat_writer *w);

/* Notes what the counter @name grew since the last call, from *@written to @now, and sets
 * *@written. @name is borrowed. */
void stat_writer_note(struct stat_writer *w, const char *name, uint64_t now, uint64_t *written);
/* Gives the thread what was noted, unless it still writes what it was given before. Returns 0; or
 * -errno if that failed, which is then tried again. */
int stat_writer_begin(struct stat_writer *w, struct error *err);
/* Whether the thread writes. */
bool stat_writer_is_busy(struct stat_writer *w);
/* Forgets what was noted and is not written. */
void stat_writer_forget(struct stat_writer *w);
/* Writes all that was noted, and waits for it. 0; or -errno, and what failed, twice, stays
 * noted. */
int stat_writer_finish(struct stat_writer *w, struct error *err);
