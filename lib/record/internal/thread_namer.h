/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes the names of the threads that are sampled, in the session's file of them
 * (sfile/session_names.h), for columns that have only their numbers. A thread writes it, because
 * the caller has samples to drain and must not wait for a disk.
 *
 *	struct thread_namer *n = thread_namer_new(samples);
 *	thread_namer_see(n, tgid, tid, comm);
 *	thread_namer_write(n);
 *	thread_namer_free(n);
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct thread_namer;

/* A namer for the session whose sample files are in @samples, which is copied. Caller frees. */
struct thread_namer *thread_namer_new(const char *samples);
/* The thread has samples, with the name @comm: equal names are the same pointer, borrowed until the
 * next call of a function that lets go of it. That it is "(unknown)", as in a thread that just
 * ended, replaces no name. */
void thread_namer_see(struct thread_namer *n, uint32_t tgid, uint32_t tid, const char *comm);
/* Begins to write the names that are new, unless it still writes those of before. The session's
 * directory must exist. */
void thread_namer_write(struct thread_namer *n);
/* Whether it writes, or has names that the last call could not begin to write. */
bool thread_namer_is_busy(const struct thread_namer *n);
/* Writes all that are new, and waits for it. */
void thread_namer_finish(struct thread_namer *n);
/* Lets go of all names: those of threads that are sampled again are written again. */
void thread_namer_let_go(struct thread_namer *n);
/* As thread_namer_finish(); then all threads are new again: the session becomes another one. */
void thread_namer_forget(struct thread_namer *n);
/* Waits for what is being written. NULL is fine. */
void thread_namer_free(struct thread_namer *n);
