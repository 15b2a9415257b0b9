/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a sample file is whole, and making a damaged one whole again. Nothing here trusts a byte
 * of the file. A result is the caller's storage and owns nothing.
 *
 *	struct check_result result;
 *	if (check_file(path, CHECK_CHAINS, &result) == 0 && result.problems)
 *		check_repair(path, &result, &err);
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

enum check_problem {
	CHECK_OTHER,	  /* no sample file */
	CHECK_FOREIGN,	  /* a sample file of another machine or version */
	CHECK_DESCRIPTOR, /* size or number of nodes impossible */
	CHECK_LENGTH,	  /* the file is not as long as its size demands */
	CHECK_GROWTH,	  /* it was growing when its writer died */
	CHECK_UNCOUNTED,  /* the last insert is complete but not counted */
	CHECK_CHAIN,	  /* nodes that the hash table does not lead to */
	CHECK_DUPLICATE,  /* nodes whose key has one already */
	CHECK_EMPTY,	  /* nodes without a sample: never written out */
	CHECK_LOST,	  /* nodes that are counted and not there */
	CHECK_PROBLEM_COUNT_
};

enum check_depth {
	CHECK_ENDS,  /* header, descriptor and length: what holds while a writer is at work */
	CHECK_CHAINS /* every node and chain too */
};

struct check_result {
	uint32_t problems;		      /* bit 1 << enum check_problem */
	uint64_t count[CHECK_PROBLEM_COUNT_]; /* how many nodes each concerns, 0 if that is no
					       * question */
	uint64_t nodes;			      /* usable ones */
	uint64_t samples;		      /* sum of their values */
	bool repairable;
	struct error why; /* of CHECK_OTHER and CHECK_FOREIGN */
};

/* Looks at the file; 0, or -errno if it cannot be read. *ret is written in both cases. */
int check_file(const char *path, enum check_depth depth, struct check_result *ret);

/* Writes a new file of the usable nodes (duplicates summed) and puts it in place of the old one,
 * whose owner and mode it gets. 0 or -errno, and then the old one stands as it was: -EBADMSG where
 * nothing tells which nodes are in use. Not while a writer is at work. *ret is what was found. */
int check_repair(const char *path, struct check_result *ret, struct error *err);

/* Says what is wrong, without the path: "12 nodes out of their chains, 1 key twice". */
void check_describe(const struct check_result *result, struct strbuf *out);
/* The problem's name in one word, for programs: "chain". */
const char *check_problem_name(enum check_problem problem);
