/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sample database: a hash of (u64 key, u32 count) in a file mapped into memory, the original's
 * format bit for bit (man opsample.5). It knows nothing of what stands in the header before it.
 *
 * One writer, any number of readers at the same time. A node is complete before it is counted, so
 * that a reader never sees half of one; a writer killed at any moment loses at most the insert it
 * was in, and the next odb_open() for writing finishes an interrupted growth.
 *
 *	struct odb *db;
 *	if (odb_open(path, ODB_WRITE, sizeof(header), &db, err) < 0) ...
 *	odb_add(db, offset, 1);
 *	odb_close(db);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct odb;

enum odb_mode {
	ODB_READ,      /* the file must exist; damage is an error */
	ODB_READ_ONCE, /* likewise, but what a writer adds later need not be seen: cheaper */
	ODB_WRITE      /* created where missing; the leftovers of a killed writer are repaired */
};

/* A node as it stands in the file; node 0 is never used and ends a chain. */
struct odb_node {
	uint64_t key;
	uint32_t value;
	uint32_t next; /* index of the next node of the chain */
};

/* The bucket of @key in a hash table of @mask + 1 buckets. */
static inline uint32_t odb_bucket(uint64_t key, uint32_t mask)
{
	uint32_t t = (uint32_t)(key >> 32) ^ (uint32_t)key;

	return (t ^ t >> 8) & mask;
}

/* Creates an empty database behind the @header_size bytes at @header (NULL: zeros; a multiple of
 * 8). It has its name only when it is whole. 0 or -errno (-EEXIST). */
int odb_create(const char *path, const void *header, size_t header_size, struct error *err);

/* Opens the database behind @header_size bytes of @path; a new file gets a zeroed header. Returns 0
 * or -errno: -EBADMSG if it is no sample database or damaged beyond what ODB_WRITE repairs, -EINVAL
 * if its length is not what its size demands. A file that is just growing, or was when its writer
 * died, is whole to a reader. The caller closes *ret. */
int odb_open(const char *path, enum odb_mode mode, size_t header_size, struct odb **ret,
	     struct error *err);
/* The same for the open file @fd, which is taken on success; @path is for messages. */
int odb_open_fd(int fd, const char *path, enum odb_mode mode, size_t header_size, struct odb **ret,
		struct error *err);
/* Whether nothing but zeros, or nothing at all, stands where header and descriptor belong: the file
 * of a writer that died while it created it. */
bool odb_is_blank(int fd, size_t header_size);
/* Unmaps and closes; NULL is fine. */
void odb_close(struct odb *db);
DEFINE_CLEANUP(struct odb *, odb_close);

/* Adds @count to the value of @key, which saturates at UINT32_MAX. Returns 0, or -errno (-ENOSPC)
 * where a new key needs a larger file that cannot be had: then nothing has changed. */
int odb_add(struct odb *db, uint64_t key, uint32_t count);

/* Adding many keys in no order is waiting for memory. odb_prefetch() asks for what odb_add() of the
 * same key will read and does not wait: each step needs what the one before it asked for, so let
 * some other keys' steps lie between. */
enum odb_step { ODB_STEP_BUCKET, ODB_STEP_FIRST, ODB_STEP_SECOND };
/* Starts one step of a look-up of @key. */
void odb_prefetch(const struct odb *db, uint64_t key, enum odb_step step);

/* Before many keys are added to a file just opened: maps all of its pages at once, cheaper than a
 * fault for each. */
void odb_populate(struct odb *db);

/* The value of @key, 0 if it is not there. With ODB_READ it looks at every node, since a writer may
 * be at work on the chains. */
uint32_t odb_get(const struct odb *db, uint64_t key);

/* The nodes in use, in order of insertion; borrowed until the next odb_add() or odb_close(). A key
 * can stand twice after a crash: readers add. */
const struct odb_node *odb_nodes(const struct odb *db, size_t *ret_count);

/* Gives back the memory that the first @count nodes take, if it was opened with ODB_READ: to look
 * at them again reads them again. For readers of long files, who would else hold all of them. */
void odb_forget(const struct odb *db, size_t count);

/* The header bytes, writable with ODB_WRITE; borrowed until the next odb_add() or odb_close(). */
void *odb_header(struct odb *db);

/* Bytes mapped now. */
size_t odb_mapped_bytes(const struct odb *db);

/* Asks the kernel to write the pages out now; 0 or -errno. */
int odb_sync(struct odb *db);
