/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks whether a sample file is intact, and repairs a damaged one. A sample file is a header and
 * a hash table that maps keys to sample counts (sfile/sfile.h). No byte of the file is trusted. The
 * caller provides the struct check_result, which owns no memory.
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
	CHECK_OTHER,	  /* not a sample file */
	CHECK_FOREIGN,	  /* a sample file from another kind of machine or of another version */
	CHECK_DESCRIPTOR, /* impossible size or number of nodes */
	CHECK_LENGTH,	  /* file length does not match the number of slots */
	CHECK_GROWTH,	  /* the writer died while growing the file */
	CHECK_UNCOUNTED,  /* the last insert is complete but not counted */
	CHECK_CHAIN,	  /* nodes that the hash table does not reach */
	CHECK_DUPLICATE,  /* nodes whose key another node already has */
	CHECK_EMPTY,	  /* nodes with count 0: never written to disk */
	CHECK_LOST,	  /* nodes counted as in use but missing from the file */
	CHECK_PROBLEM_COUNT_
};

enum check_depth {
	CHECK_ENDS,  /* only what also holds while a writer is active: header, descriptor, length */
	CHECK_CHAINS /* also every node and hash chain */
};

struct check_result {
	uint32_t problems;		      /* set of 1 << enum check_problem */
	uint64_t count[CHECK_PROBLEM_COUNT_]; /* nodes affected by each problem; 0 where that
					       * does not apply */
	uint64_t nodes;			      /* usable nodes, duplicates counted once */
	uint64_t samples;		      /* sum of the counts of all nodes */
	bool repairable;
	struct error why; /* reason for CHECK_OTHER, CHECK_FOREIGN or a failed read */
};

/* Checks the file. Returns 0, or -errno if it cannot be read. Writes *ret in both cases. */
int check_file(const char *path, enum check_depth depth, struct check_result *ret);

/* Repairs a damaged file: replaces it with a new file that holds the usable nodes (duplicates
 * summed) and keeps the owner and mode of the old one. Must not be called while a writer is active.
 * *ret receives the problems found. Returns 0, or -errno with the old file unchanged: -EBADMSG if
 * there is no way to find out which nodes are in use. */
int check_repair(const char *path, struct check_result *ret, struct error *err);

/* Appends the problems to @out, without the path: "12 nodes not in their chains, 1 key twice". */
void check_describe(const struct check_result *result, struct strbuf *out);
/* Returns the problem's one-word name, meant for programs: "chain". */
const char *check_problem_name(enum check_problem problem);
