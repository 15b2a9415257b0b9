/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the files that describe a process's JIT code, as seen in its own namespaces:
 * /tmp/perf-PID.map, a jitdump (jit-PID.dump in /tmp, or anywhere if it is mapped), the dump of the
 * original's agent in /tmp/.oprofile/jitdump. The process is not trusted: a file is used only if it
 * is a regular file with one link, owned by the process's user, and reached without links out of
 * the process's root. To open that root, and to search, may wait for the server of a file system:
 * another process can do it (identity/opener.h). All else here waits for nobody.
 *
 *	struct jit_files *f = jit_files_new("", tgid);
 *	jit_files_take_root(f, jit_files_open_root("", tgid));
 *	while ((fd = jit_files_find("", jit_files_root(f), jit_files_query(f), path)) >= 0)
 *		jit_files_note(f, fd);
 *	jit_files_free(f);
 */
#pragma once

#include "base/macro.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum { JIT_FILES_MAX = 16 }; /* of one process */

struct jit_files;

/* What to search for. It has no pointers, so that another process can search. */
struct jit_files_query {
	uint32_t tgid;
	uint32_t inner;	     /* its PID in its own namespace, which names its files */
	uint32_t owner;	     /* its user */
	uint32_t seen_count; /* files that were found before: */
	struct jit_files_seen {
		uint64_t device, inode;
	} seen[JIT_FILES_MAX];
};

/* The files of process @tgid of the /proc below @root. If it has already exited, fewer are found.
 * Caller frees. */
struct jit_files *jit_files_new(const char *root, uint32_t tgid);
/* NULL is fine. */
void jit_files_free(struct jit_files *f);
DEFINE_CLEANUP(struct jit_files *, jit_files_free);

/* Opens the root directory of a process of the /proc below @proc_root, or ours if it has exited,
 * with O_PATH. Returns the descriptor, which is the caller's, or -errno. */
int jit_files_open_root(const char *proc_root, uint32_t tgid);
/* Takes the descriptor, so that files can be found after the process exits. */
void jit_files_take_root(struct jit_files *f, int fd);

/* What to search for, and below which directory (a descriptor with O_PATH, negative before
 * jit_files_take_root()); borrowed. */
const struct jit_files_query *jit_files_query(const struct jit_files *f);
int jit_files_root(const struct jit_files *f);
/* Notes that the file @fd was found. */
void jit_files_note(struct jit_files *f, int fd);
/* Whether the process has exited. */
bool jit_files_gone(const struct jit_files *f);

/* Finds a file that was not seen before, of a process of the /proc below @proc_root whose root
 * directory is @root. Returns a descriptor with O_PATH, and its path, which the caller frees in
 * *@ret; or -ENOENT. */
int jit_files_find(const char *proc_root, int root, const struct jit_files_query *query,
		   char **ret);
