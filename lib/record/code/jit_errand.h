/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A question about the JIT code of a process, for an opener (identity/opener.h): what is its
 * root directory, which file describes its code, or what a portion of such a file says. A thread
 * waits for the answer.
 *
 *	errands_add(errands, jit_errand_find(opener, serial, files));
 *	...
 *	e = (struct jit_errand *)errands_take(errands);
 *	...
 *	jit_errand_free(e);
 */
#pragma once

#include "helper/errands.h"
#include "identity/opener.h"
#include "jit/jit_files.h"

#include <stdbool.h>
#include <stddef.h>

struct jit_errand {
	struct errand errand;
	struct opener *opener; /* borrowed */
	uint64_t serial;       /* of the process */
	struct jit_files_query query;
	bool is_root;		/* its root directory is asked for */
	const void *source;	/* to compare; NULL: a file is searched for */
	struct opener_jit from; /* ->fd, of the file or the root directory, and ->name are own */
	/* The answer: */
	int code;   /* 0 or -errno */
	int found;  /* the file or directory, with O_PATH, or -1 */
	char *path; /* its path */
	void *bytes;
	size_t size;
};

/* Opens the root directory; caller frees. */
struct errand *jit_errand_root(struct opener *o, uint64_t serial, const struct jit_files *files);
/* Searches for a file; caller frees. */
struct errand *jit_errand_find(struct opener *o, uint64_t serial, const struct jit_files *files);
/* Reads a portion of @source; caller frees. */
struct errand *jit_errand_read(struct opener *o, uint64_t serial, const struct jit_files *files,
			       const struct jit_source *source, uint64_t now);
/* Returns an errand that closes what @e has open, and frees it when it is dropped. */
struct errand *jit_errand_closing(struct jit_errand *e);
/* NULL is fine. */
void jit_errand_free(struct jit_errand *e);
DEFINE_CLEANUP(struct jit_errand *, jit_errand_free);
