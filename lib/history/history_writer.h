/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the history of a session: what its sample files counted in each slice of time
 * (samples/NAME/history, man ophistory.5). The counts of a slice are added up in memory.
 *
 *	h = history_writer_new(samples);
 *	file = history_writer_file(h, &name);
 *	history_writer_count(h, file, offset, 1);
 *	history_writer_end(h, &slice, err);	every ten seconds
 *	history_writer_free(h);
 *
 * The files are in generations, each with its own numbers for the names of sample files, so that
 * old ones can be rolled up and deleted (history/upkeep.h). A new one begins with the first slice,
 * with each full hour, and after one whose names take 4 MiB of memory.
 */
#pragma once

#include "base/macro.h"
#include "history/history_name.h"
#include "history/slice_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct history_writer;

/* A writer for the session at @samples, which is copied; caller frees. Nothing is created before
 * the first slice. */
struct history_writer *history_writer_new(const char *samples);
/* Discards what was counted since the last slice; NULL is allowed. */
void history_writer_free(struct history_writer *h);
DEFINE_CLEANUP(struct history_writer *, history_writer_free);

/* The number of a sample file, valid while history_writer_epoch() is the same; @name is borrowed
 * for the call. */
uint32_t history_writer_file(struct history_writer *h, const struct history_name *name);
/* Changes when the numbers of files become invalid. Never 0. */
uint32_t history_writer_epoch(const struct history_writer *h);
/* The number of the first generation of the hour, or of the writer; 0: none. Those before it do not
 * change any more. */
uint32_t history_writer_generation(const struct history_writer *h);
/* Adds @count at @key of the sample file with number @file. */
void history_writer_count(struct history_writer *h, uint32_t file, uint64_t key, uint64_t count);
/* Whether so much was counted that the slice should end early. */
bool history_writer_is_full(const struct history_writer *h);
/* Writes what was counted as @slice, whose ->samples it does not need to be the sum of, and begins
 * the next one. If the clock was set back, *@slice is moved after the last one. Returns 0, or
 * -errno: what was counted is then in no slice. */
int history_writer_end(struct history_writer *h, struct slice *slice, struct error *err);
/* Closes the files, so that the session's directory can be renamed or removed. What was counted
 * since the last slice is discarded. */
void history_writer_leave(struct history_writer *h);
/* Bytes of memory. */
size_t history_writer_memory(const struct history_writer *h);
