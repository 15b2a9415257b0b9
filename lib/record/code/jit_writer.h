/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the code of processes to files, in a thread: that of one process may take a second, and
 * the caller has samples to drain.
 *
 *	struct jit_writer *w = jit_writer_new();
 *	struct jit_writing *job = jit_writing_new(jit, tgid);
 *	jit_writing_path(job, xstrdup("samples/current/jit/7.jo"));
 *	number = jit_writer_add(w, job);
 *	...
 *	if (jit_writer_is_over(w, number))
 *		jit_free(jit);
 *	jit_writer_free(w);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit;
struct jit_writer;
struct jit_writing;

/* What became of jobs. */
struct jit_written {
	size_t count;	 /* pieces of code in the file */
	uint64_t failed; /* jobs that could not be written */
};

/* Caller frees. */
struct jit_writer *jit_writer_new(void);
/* Waits for what is to be written. NULL is fine. */
void jit_writer_free(struct jit_writer *w);
DEFINE_CLEANUP(struct jit_writer *, jit_writer_free);

/* The code that @jit has now, of the process @tgid. @jit must exist until it is written. */
struct jit_writing *jit_writing_new(const struct jit *jit, uint32_t tgid);
/* It is to be written to @path, whose directory is made; takes @path. */
void jit_writing_path(struct jit_writing *job, char *path);
/* When @job is over, @ret has the number of pieces that were written, or one failure more. It must
 * exist until then. */
void jit_writing_result(struct jit_writing *job, struct jit_written *ret);

/* Takes @job. Returns its number, for jit_writer_is_over(). */
uint64_t jit_writer_add(struct jit_writer *w, struct jit_writing *job);
/* Returns whether the job with @number was done; so is number 0. */
bool jit_writer_is_over(const struct jit_writer *w, uint64_t number);
/* Returns whether all jobs were done, and logs what could not be written. */
bool jit_writer_is_idle(struct jit_writer *w);
/* Waits until all jobs were done. */
void jit_writer_wait(struct jit_writer *w);
