/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session directory: DIR/samples/NAME/ with sample files, stats/ and the image manifest;
 * "current" is the one being written (DESIGN.md, "Names on disk").
 *
 *	_cleanup_free_ char *samples = session_samples("/var/lib/oprofile", "current");
 *	session_walk(samples, add_file, warn, &list, &err);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct sname;

/* DIR/samples/NAME; caller frees. */
char *session_samples(const char *session_dir, const char *name);

/* Creates DIR/samples/NAME and what is missing above it, and the file DIR/abi; 0 or -errno. */
int session_create(const char *session_dir, const char *name, struct error *err);

/* Whether DIR/samples/NAME exists and holds at least one sample file. */
bool session_exists(const char *session_dir, const char *name);

/* Calls @each with every sample file below @samples: its whole path and its name taken apart, both
 * borrowed for the call; until one returns non-zero, which is returned. A file whose name is none
 * goes to @bad with the reason and is skipped. 0 or -errno. */
int session_walk(const char *samples,
		 int (*each)(const char *path, const struct sname *name, void *),
		 void (*bad)(const char *path, const struct error *why, void *data), void *data,
		 struct error *err);

/* Calls @each with every file below @samples that is no sample file (counters, manifest, kallsyms):
 * its whole path and that below @samples, both borrowed for the call; until one returns non-zero,
 * which is returned. 0 or -errno. */
int session_walk_rest(const char *samples,
		      int (*each)(const char *path, const char *below, void *data), void *data,
		      struct error *err);

/* Calls @each with the name of every session of DIR; 0 or -errno. */
int session_list(const char *session_dir, int (*each)(const char *name, void *data), void *data,
		 struct error *err);

/* Renames session @from to @to, which must not exist (-EEXIST); 0 or -errno. */
int session_rename(const char *session_dir, const char *from, const char *to, struct error *err);
/* Removes session @name with all in it; no such session is no error. */
int session_remove(const char *session_dir, const char *name, struct error *err);
/* Whether @name can be a session's: no slash, no leading dot, not empty. */
bool session_name_valid(const char *name);

/* Takes the writer's lock of DIR (a record lock on DIR/lock, gone with its holder, in which the
 * holder's pid stands); returns its descriptor, to be closed by the caller, or -EBUSY with the
 * other's pid in @err, or -errno. */
int session_lock(const char *session_dir, struct error *err);
/* The pid of the lock's holder, 0 if nobody holds it. */
uint32_t session_lock_holder(const char *session_dir);

/* Adds @value to the counter @name in @samples/stats (a decimal number in a file of its own);
 * 0 or -errno. A name with a slash makes a directory ("cpu0/sample_received"). */
int session_stat_add(const char *samples, const char *name, uint64_t value, struct error *err);
/* The counter's value, 0 where there is none. */
uint64_t session_stat_get(const char *samples, const char *name);
/* Calls @each with every counter of @samples/stats; 0 or -errno. */
int session_stat_each(const char *samples, void (*each)(const char *name, uint64_t v, void *data),
		      void *data);
