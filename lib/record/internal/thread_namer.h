/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes the names of the threads that are sampled, in the session's file of them
 * (sfile/session_names.h), for columns that have only their numbers.
 *
 *	struct thread_namer *n = thread_namer_new(samples);
 *	thread_namer_see(n, tgid, tid, comm);
 *	thread_namer_write(n);
 *	thread_namer_free(n);
 */
#pragma once

#include <stdint.h>

struct thread_namer;

/* A namer for the session whose sample files are in @samples, which is copied. Caller frees. */
struct thread_namer *thread_namer_new(const char *samples);
/* The thread has samples, with the name @comm: equal names are the same pointer, borrowed for good.
 * That it is "(unknown)", as in a thread that just ended, replaces no name. */
void thread_namer_see(struct thread_namer *n, uint32_t tgid, uint32_t tid, const char *comm);
/* Writes the names that are new since the last call. The session's directory must exist. */
void thread_namer_write(struct thread_namer *n);
/* As thread_namer_write(); then all threads are new again: the session becomes another one. */
void thread_namer_forget(struct thread_namer *n);
/* NULL is fine. */
void thread_namer_free(struct thread_namer *n);
