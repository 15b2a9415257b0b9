/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads processes from /proc in other threads: a process that maps memory all the time, or maps a
 * file of a file system that does not answer, has whoever reads its mappings wait. Each reading has
 * a thread; one that does not end is given up, and few of one user may be under way.
 *
 *	reader = process_reader_new("", process_reading_new);
 *	process_reader_ask(reader, tgid, tid, now_ns);
 *	...
 *	process_reader_await(reader, tgid, 8);
 *	r = process_reader_take(reader, p, &target, until_ns, &is_cut);
 *	process_reader_free(reader);
 */
#pragma once

#include "process/process_reading.h"

struct process_reader;

/* Reads a process in a thread, as process_reading_new() does. */
typedef struct process_reading *process_reader_read(const char *root, uint32_t tid);

/* Copies @root; caller frees. */
struct process_reader *process_reader_new(const char *root, process_reader_read *read);
/* Waits for no reading that is under way. NULL is fine. */
void process_reader_free(struct process_reader *r);

/* Begins to read process @tgid, by its thread @tid. 0; -EBUSY if too many are being read, or of
 * that user; or -errno. */
int process_reader_ask(struct process_reader *r, uint32_t tgid, uint32_t tid, uint64_t now_ns);
/* Returns whether @tgid was asked for; *@ret_ns is the @now_ns of process_reader_ask(). */
bool process_reader_is_asked(const struct process_reader *r, uint32_t tgid, uint64_t *ret_ns);
/* Waits until the process has been read, but at most @ms; returns whether it was. */
bool process_reader_await(struct process_reader *r, uint32_t tgid, int ms);
/* Puts what was read into @p, as process_reading_take() does, and what it cost into ->cost_ns.
 * -EAGAIN: not read yet, or there is more of it; otherwise the reading is finished. -EOVERFLOW: it
 * mapped too much since it was asked for. *@ret_is_cut: not all of its mappings are known. */
int process_reader_take(struct process_reader *r, struct process *p,
			const struct process_target *to, uint64_t until_ns, bool *ret_is_cut);

/* Calls @each with the mappings that were read of a process, except at addresses that it has mapped
 * since, and drops them. Returns how long it took to read them. */
uint64_t process_reader_look(struct process_reader *r, uint32_t tgid,
			     void (*each)(const struct mapping_source *read, void *data),
			     void *data);

/* Notes that the process mapped @mapping at @at_ns: process_reader_take() adds it, unless that was
 * before it was asked for. */
void process_reader_map(struct process_reader *r, uint32_t tgid, const struct mapping *mapping,
			uint64_t at_ns);
/* Drops what was asked for of @tgid before @at_ns, when it became another process, or executed
 * something else. */
void process_reader_forget(struct process_reader *r, uint32_t tgid, uint64_t at_ns);
/* Has readings that were taken in part begin again, because cookies are forgotten. */
void process_reader_restart(struct process_reader *r);
/* Calls @each with each process whose reading is ready. @each may take it. */
void process_reader_each_ready(struct process_reader *r, void (*each)(uint32_t tgid, void *data),
			       void *data);
