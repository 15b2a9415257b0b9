/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of threads as of the record handled last. They are known from the kernel's records;
 * that of a thread without a record is read from /proc at its first sample. The caller frees the
 * table.
 *
 *	struct thread_names *t = thread_names_new("");
 *	thread_names_record(t, &record);
 *	cookie = cookie_comm(cookies, thread_names_of(t, tid));
 */
#pragma once

#include "perf/perf_record.h"

struct thread_names;

/* Creates an empty table that reads /proc below @root ("": this machine's). */
struct thread_names *thread_names_new(const char *root);
/* Frees @t; NULL is fine. */
void thread_names_free(struct thread_names *t);
/* Forgets all names: changes were not recorded. */
void thread_names_forget(struct thread_names *t);
/* Applies a COMM, FORK, EXIT or LOST record; ignores others. */
void thread_names_record(struct thread_names *t, const struct perf_record *r);
/* Returns the name of the thread @tid, "(unknown)" if it has gone unseen; borrowed until the next
 * call. */
const char *thread_names_of(struct thread_names *t, uint32_t tid);
