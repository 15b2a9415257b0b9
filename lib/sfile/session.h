/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds, creates, walks, renames, removes and locks sessions. A session is one set of profile data:
 * the directory DIR/samples/NAME/ with sample files, the counters in stats/ and the image manifest.
 * The session being written is called "current" (DESIGN.md, "Names on disk"). Strings passed to
 * callbacks are borrowed for the call.
 *
 *	_cleanup_free_ char *samples = session_samples("/var/lib/oprofile", "current");
 *	session_walk(samples, add_file, warn, &list, &err);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* The user whose daemon profiles the machine, unless --user names another. */
#define SESSION_SYSTEM_USER "oprofile"

/* The directory of files that were not used for long (sfile/idle.h), below samples/NAME. */
#define SESSION_IDLE "idle"

struct sname;

/* Returns the path DIR/samples/NAME; caller frees. */
char *session_samples(const char *session_dir, const char *name);

/* Returns the path of the code that process @tgid generated and that is in call chains,
 * @samples/jit/TGID.jo; caller frees. */
char *session_code_path(const char *samples, uint32_t tgid);

/* Returns the path of the functions kept of sampled files (man opsymbols), DIR/symbols for @samples
 * in DIR; caller frees. */
char *session_symbols(const char *samples);

/* Creates DIR/samples/NAME/stats with all missing parents, and the file DIR/abi if it is missing.
 * Returns 0 or -errno. */
int session_create(const char *session_dir, const char *name, struct error *err);

/* Returns whether DIR/samples/NAME exists and contains at least one sample file, or has any in
 * idle/. */
bool session_exists(const char *session_dir, const char *name);

/* Calls @each for every sample file below @samples, with its full path and its parsed name, both
 * borrowed for the call. Stops when @each returns non-zero, and returns that value. Files whose
 * names cannot be parsed and directories that cannot be read are passed to @bad (may be NULL) with
 * the reason, and skipped. Returns 0 or -errno. */
int session_walk(const char *samples,
		 int (*each)(const char *path, const struct sname *name, void *),
		 void (*bad)(const char *path, const struct error *why, void *data), void *data,
		 struct error *err);

/* Calls @each for every other file below @samples (counters, manifest, kallsyms) but those in
 * idle/, with its full path and its path below @samples, both borrowed for the call. Stops when
 * @each returns non-zero, and returns that value. Returns 0 or -errno. */
int session_walk_rest(const char *samples,
		      int (*each)(const char *path, const char *below, void *data), void *data,
		      struct error *err);

/* Calls @each with the name of every session in DIR. Stops when @each returns non-zero, and returns
 * that value. Returns 0 or -errno. */
int session_list(const char *session_dir, int (*each)(const char *name, void *data), void *data,
		 struct error *err);

/* The same for the regular files next to the sessions. */
int session_list_strays(const char *session_dir, int (*each)(const char *name, void *data),
			void *data, struct error *err);

/* Renames session @from to @to, which must not exist (-EEXIST). Returns 0 or -errno. */
int session_rename(const char *session_dir, const char *from, const char *to, struct error *err);
/* Removes session @name: gives it a name that no session has, so that it is gone at once and as a
 * whole, however long its files take; session_clear() removes these. Where it cannot be renamed, as
 * it is a file system of its own, it is removed file by file. A missing session is not an error.
 * Returns 0 or -errno. */
int session_set_aside(const char *session_dir, const char *name, struct error *err);
/* Removes what sessions that were set aside have left, also those of earlier processes. Returns 0
 * or -errno; then some may be left. */
int session_clear(const char *session_dir, struct error *err);
/* The disk space in bytes that these take; less if @goes_on(@data), as of path_disk_bytes(), has
 * returned false. */
uint64_t session_aside_bytes(const char *session_dir, bool (*goes_on)(const void *data),
			     const void *data);
/* Sets session @name aside and clears. What cannot be cleared is warned of. */
int session_remove(const char *session_dir, const char *name, struct error *err);
/* Returns whether @name is a valid session name: no slash, no control characters, no leading dot,
 * neither empty nor too long. */
bool session_name_valid(const char *name);
/* 0 if it is; else -EINVAL. */
int session_name_check(const char *name, struct error *err);

/* Adds @value to the counter @name, a decimal number in the file @samples/stats/@name; the sum
 * saturates at UINT64_MAX. A slash in @name creates a subdirectory ("cpu0/sample_received").
 * Returns 0, PATH_UNSYNCED if it is added, but for certain only when path_sync_parent() succeeds
 * for its file, or -errno if it is not. */
int session_stat_add(const char *samples, const char *name, uint64_t value, struct error *err);
/* Returns the counter's value, 0 if there is no such counter or it cannot be read, which is logged;
 * what is no number is reported by session_stat_each(). */
uint64_t session_stat_get(const char *samples, const char *name);
/* Calls @each for every counter in @samples/stats that can be read. Returns 0, or -errno if a
 * directory cannot. */
int session_stat_each(const char *samples, void (*each)(const char *name, uint64_t v, void *data),
		      void *data);
