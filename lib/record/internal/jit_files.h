/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the files that describe a process's JIT code, as seen in its own namespaces:
 * /tmp/perf-PID.map, a jitdump (jit-PID.dump in /tmp, or anywhere if it is mapped), the dump of the
 * original's agent in /tmp/.oprofile/jitdump. The process is not trusted: a file is used only if it
 * is a regular file with one link, owned by the process's user, and reached without links out of
 * the process's root.
 *
 *	struct jit_files *f = jit_files_new("", tgid);
 *	while ((s = jit_files_next(f)))
 *		...
 *	jit_files_free(f);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stdint.h>

struct jit_files;
struct jit_source;

/* Opens process @tgid of the /proc below @root, so that its files can be found after it exits. If
 * it has already exited, fewer files are found. Caller frees. */
struct jit_files *jit_files_new(const char *root, uint32_t tgid);
/* NULL is fine. */
void jit_files_free(struct jit_files *f);
DEFINE_CLEANUP(struct jit_files *, jit_files_free);

/* Returns a file that was not returned before, which the caller frees; NULL if there is none
 * now. */
struct jit_source *jit_files_next(struct jit_files *f);
/* The user of the process. */
uint32_t jit_files_owner(const struct jit_files *f);
/* Whether the process has exited. */
bool jit_files_gone(const struct jit_files *f);
