/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which file it is, whatever its name, and which version of its contents. Values, nothing to free.
 *
 *	struct file_identity a = { .device = 8ULL << 32 | 1, .inode = 5 }, b = a;
 *	b.generation = 7;
 *	if (file_identity_matches(&a, &b))
 *		puts("nothing is known that differs");
 */
#pragma once

#include "file/build_id.h"

struct stat;

/* The same as long as the file exists; 0: unknown. */
struct file_identity {
	uint64_t device; /* major << 32 | minor */
	uint64_t inode;
	uint64_t generation; /* distinguishes files that had the inode one after the other */
};

/* Changes with the file's contents. */
struct file_version {
	uint64_t size, mtime;	  /* bytes, seconds; 0: unknown */
	struct build_id build_id; /* none if unknown */
	uint64_t ctime_ns;	  /* 0: unknown, or has a build-id */
};

/* Returns the identity of the file that @st describes, without its generation. */
struct file_identity file_identity_of(const struct stat *st);
/* Returns when the file that @st describes was last changed (ctime), since the epoch. */
uint64_t file_version_ctime_ns(const struct stat *st);
/* Returns whether both can be the same file: what both know is equal. */
bool file_identity_matches(const struct file_identity *a, const struct file_identity *b);
/* Returns a hash of all three numbers. */
uint64_t file_identity_hash(const struct file_identity *f);
