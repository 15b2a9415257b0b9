/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of source files that an interpreter runs, such as Python's. Their samples are in the
 * sample files of the source file, an image whose offsets are places: each function has a range of
 * them, as long as its bytecode, which it keeps in the session. So the same function of many
 * processes, runs and days is one, and a changed one is another. The places, their names and lines
 * are written to the session as an ELF file with DWARF, which reports read like any other. Samples
 * count at places before their names are written, so a small file next to it reserves places first:
 * after a crash they are given to no other functions.
 *
 *	struct source_files *files = source_files_new(samples);
 *	offset = source_files_place(files, cookie, "/srv/app.py")->address + offset_in_bytecode;
 *	source_files_write(files, now_ns, false);		again and again
 *	source_files_free(files);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cookie_image;
struct jit_code;
struct source_files;

/* Creates an empty table for the session in the directory @samples. Caller frees. */
struct source_files *source_files_new(const char *samples);
/* Frees it; what was not written is lost. Accepts NULL. */
void source_files_free(struct source_files *t);

/* Returns the place of the function @source, of kind COOKIE_SOURCE, in the image called @name, as
 * the address of its code; gives it one if it is new. Functions beyond the limits share one. NULL:
 * there is none. The code is borrowed until source_files_forget() or source_files_sweep(). */
const struct jit_code *source_files_place(struct source_files *t, const struct cookie_image *source,
					  const char *name);
/* The same for the function whose place was requested with @cookie before, else NULL. */
const struct jit_code *source_files_known(const struct source_files *t, uint64_t cookie);
/* Whether functions of the source file called @name got places since the start, or since it was
 * freed by source_files_sweep(). */
bool source_files_have(const struct source_files *t, const char *name);
/* Removes what the session has of the source file called @name, unless source_files_have() it. */
void source_files_remove(const struct source_files *t, const char *name);
/* Writes files that have got functions, in a thread: some now, others in the next calls; with @all,
 * all of them, and returns when that is done. @now_ns: CLOCK_MONOTONIC. */
void source_files_write(struct source_files *t, uint64_t now_ns, bool all);
/* Writes, some in each call, all files that have got functions, but each only once since @since_ns.
 * Returns whether there is more to do: call it again. */
bool source_files_dump(struct source_files *t, uint64_t now_ns, uint64_t since_ns);
/* Whether files are being written. */
bool source_files_are_writing(const struct source_files *t);
/* Frees the files that @is_used rejects by their names, except those with functions that are not
 * written yet, and those being written. Their functions get the same places when they come back. */
void source_files_sweep(struct source_files *t, bool (*is_used)(const char *name, void *data),
			void *data);
/* Forgets all, because the session goes away. */
void source_files_forget(struct source_files *t);

/* Number of functions that got no place of their own. */
uint64_t source_files_capped(const struct source_files *t);
/* Number of times that a file could not be written; that is tried again. */
uint64_t source_files_unwritten(const struct source_files *t);
