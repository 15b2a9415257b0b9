/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the kernel's lists, and writes the session's copy of its symbols, in a thread: kallsyms has
 * more than 100,000 lines, and the caller has samples to drain.
 *
 *	struct kernel_reader *r = kernel_reader_new(root);
 *	kernel_reader_ask(r, path);
 *	...
 *	if (kernel_reader_take(r, &reading))
 *		...
 *	kernel_reader_free(r);
 */
#pragma once

#include "base/error.h"
#include "symbol/kallsyms.h"

#include <stdbool.h>
#include <stdint.h>

struct kernel_reader;

struct kernel_reading {
	int result;		       /* 0, or -errno: ->ranges is empty */
	struct kallsyms_ranges ranges; /* the caller's */
	uint64_t took_ns;
	bool is_saved; /* the session has the symbols of these ranges */
	struct error why;
};

/* A reader of /proc below @root, which is copied. Caller frees. */
struct kernel_reader *kernel_reader_new(const char *root);
/* Waits for what the thread does, and drops the rest. NULL is fine. */
void kernel_reader_free(struct kernel_reader *r);

/* The id of this boot, or "-"; borrowed. */
const char *kernel_reader_boot(const struct kernel_reader *r);
/* Begins to read, and to add missing symbols to the file @path; nothing if the result
 * of another reading was not yet taken. Returns false if there is no thread for it. */
bool kernel_reader_ask(struct kernel_reader *r, const char *path);
/* Returns whether a result is being read, or was not yet taken. */
bool kernel_reader_is_asked(const struct kernel_reader *r);
/* Waits until the thread is done with all. */
void kernel_reader_await(struct kernel_reader *r);
/* Returns whether there is a result. */
bool kernel_reader_take(struct kernel_reader *r, struct kernel_reading *ret);

/* Begins to sync the file @path, to which a piece of code was added. */
void kernel_reader_sync(struct kernel_reader *r, const char *path);
/* Whether a piece may be added: the thread must not be writing the file, and not too much may be
 * unsynced. Waits a little, but not each time. */
bool kernel_reader_lets_write(struct kernel_reader *r);
