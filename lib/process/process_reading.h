/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What /proc says of one process, read in one thread and put into a process table by another: the
 * kernel may let a reader wait for as long as the process changes its mappings. The caller owns it.
 *
 *	reading = process_reading_new("", 70);			in any thread
 *	...
 *	do						in the one of the table
 *		r = process_reading_take(reading, p, &to, clock_now_ns() + 5000000);
 *	while (r == -EAGAIN);
 *	process_reading_free(reading);
 */
#pragma once

#include "base/arena.h"
#include "identity/cookie.h"
#include "process/process.h"

/* Mappings of one process that are executable, and bytes of their paths; far more than the kernel
 * allows unless its limit (vm.max_map_count) was raised. What is over the limit is not known. */
enum { PROCESS_READING_MAPPINGS = 1 << 17, PROCESS_READING_PATHS = 16 << 20 };

struct process_reading {
	int code;		     /* 0, or -errno: then there is nothing else */
	bool kernel;		     /* a thread of the kernel */
	bool cut;		     /* it has more than the limits above */
	char name[PROCESS_NAME_MAX]; /* comm */
	char *exe;		     /* what its link exe says, or NULL */
	struct file_identity app;    /* of that file; 0: not known, or a mapping has its name */
	struct mapping_source *list; /* executable mappings, paths in ->paths */
	size_t count, room;
	struct arena paths;
	uint64_t took_ns; /* to read it */
	/* While it is being taken: */
	size_t next; /* mapping */
	struct maps *maps;
	uint64_t app_cookie; /* of the mapping that is named like exe */
};

/* Where it is put, and where files get their cookies; borrowed. */
struct process_target {
	struct process_table *table;
	struct cookie_table *cookies;
};

/* Reads the process of thread @tid; caller frees. ->code is -ESRCH for a zombie. */
struct process_reading *process_reading_new(const char *root, uint32_t tid);
/* NULL is fine. */
void process_reading_free(struct process_reading *r);
DEFINE_CLEANUP(struct process_reading *, process_reading_free);

/* Goes on replacing what is known of @p by @r until @until_ns. 0 when that is done, -EAGAIN if
 * there is more of it, or its ->code; only when it is done has @p changed. */
int process_reading_take(struct process_reading *r, struct process *p,
			 const struct process_target *to, uint64_t until_ns);
