/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a process writes what it compiles at run time, seen in its own namespaces:
 * /tmp/perf-PID.map, a jitdump (jit-PID.dump in /tmp, or anywhere if it has it mapped), the dump of
 * the original's agent in /tmp/.oprofile/jitdump. The process is a stranger: a file counts only if
 * it is a regular one with one name, reached without links out of its root, and its owner's own.
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

/* Takes hold of process @tgid of the /proc below @root, so that its files can be found when it has
 * gone; works, with less to find, if it has gone already. Caller frees. */
struct jit_files *jit_files_new(const char *root, uint32_t tgid);
/* NULL is fine. */
void jit_files_free(struct jit_files *f);
DEFINE_CLEANUP(struct jit_files *, jit_files_free);

/* A file that is there and was not returned before, the caller's to free; NULL if there is none
 * now. */
struct jit_source *jit_files_next(struct jit_files *f);
/* Whether the process has exited. */
bool jit_files_gone(const struct jit_files *f);
