/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of the machine and what they have mapped, as of the record handled last. The table
 * owns the processes; a pointer to one holds until the next call that changes the table.
 *
 *	struct process *child = process_fork(&table, 1, 77);
 *	process_exec(&table, child, "cc1");
 *	maps_add(&child->maps, &mapping);
 */
#pragma once

#include "base/map.h"
#include "process/maps.h"

#include <stdbool.h>

enum { PROCESS_NAME_MAX = 16 };

struct process {
	uint32_t tgid;
	char name[PROCESS_NAME_MAX]; /* comm, cut to 15 characters */
	uint64_t app;		     /* cookie of what it executes; EVBUF_NO_COOKIE: not known */
	struct maps *maps;	     /* NULL: not known */
	bool kernel;		     /* a kernel thread: no mappings, the name is the application */
	bool exec;	     /* has executed something: its next mapping is the application */
	bool followed;	     /* itself or an ancestor is the one that was asked for */
	bool waiting;	     /* not sampled until it has executed something and that is mapped */
	bool sampled;	     /* since it was last checked for what records do not say */
	bool leaving;	     /* its main thread has exited; looked at again by process_expire() */
	uint64_t read_ns;    /* when it was last read from /proc, 0: never */
	uint64_t tried_ns;   /* the same, also in vain */
	uint64_t cost_ns;    /* how long that took */
	uint64_t checked_ns; /* when that was */
	uint64_t sure_ns;    /* when nothing of it was missing, as far as it depends on itself */
	size_t read_count;   /* mappings it had then */
};

struct process_table {
	struct map by_tgid;
	struct process_leaving *leaving; /* queue, oldest first */
	size_t leaving_count, leaving_room;
	uint64_t changes; /* grows with every change: what was looked up before may be gone */
};

#define PROCESS_TABLE_INIT ((struct process_table){ .changes = 0 })

/* Frees all; the table is empty and usable again. */
void process_table_clear(struct process_table *t);

/* The process, or NULL. */
struct process *process_get(const struct process_table *t, uint32_t tgid);
/* The process, made where missing. */
struct process *process_make(struct process_table *t, uint32_t tgid);
/* Makes @tgid a child of @parent with all it has; a process that had that number before is gone.
 * Of an unknown parent the child knows nothing. */
struct process *process_fork(struct process_table *t, uint32_t parent, uint32_t tgid);
/* It executes something else: nothing stays mapped, and it is called @name. The application stays
 * the old one until the new one's file is mapped. */
void process_exec(struct process_table *t, struct process *p, const char *name);
/* Sets the name. */
void process_rename(struct process_table *t, struct process *p, const char *name);
/* Puts @mapping into the process, which thereby becomes known. */
void process_map(struct process_table *t, struct process *p, const struct mapping *mapping);
/* Replaces all mappings; takes the reference. */
void process_set_maps(struct process_table *t, struct process *p, struct maps *maps);

/* Whether any process is followed. */
bool process_any_followed(const struct process_table *t);

/* Its main thread exited at @at_ns: other threads may go on. */
void process_leave(struct process_table *t, struct process *p, uint64_t at_ns);
/* Removes the processes that left before @until_ns and are really gone, which @gone says; those
 * that are not are asked about again later. */
void process_expire(struct process_table *t, uint64_t until_ns,
		    bool (*gone)(uint32_t tgid, void *data), void *data);
