/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sample database: a hash table in a memory-mapped file that maps u64 keys to u32 counts. The
 * format is that of the original OProfile, bit for bit (man opsample.5). The database follows a
 * header in the file, whose contents it does not interpret. A struct odb owns the mapping and the
 * file descriptor.
 *
 * One writer and any number of readers may use a file at the same time. A node is complete before
 * it is counted, so a reader never sees a partial one. A writer killed at any moment loses at most
 * the insert in progress, and the next odb_open() for writing cleans up after an interrupted
 * growth.
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
	ODB_READ_ONCE, /* as ODB_READ, but may miss what a writer adds later; cheaper */
	ODB_WRITE      /* creates a missing file; repairs what a killed writer left */
};

/* A node as stored in the file. Node 0 is never used; index 0 ends a chain. */
struct odb_node {
	uint64_t key;
	uint32_t value;
	uint32_t next; /* index of the next node in the chain; 0: none */
};

/* Returns the bucket of @key in a hash table of @mask + 1 buckets. */
static inline uint32_t odb_bucket(uint64_t key, uint32_t mask)
{
	uint32_t t = (uint32_t)(key >> 32) ^ (uint32_t)key;

	return (t ^ t >> 8) & mask;
}

/* Creates a file with a header, the @header_size bytes at @header (NULL: zeros), and an empty
 * database after it. @header_size must be a multiple of 8. The file appears at @path only when it
 * is complete. Returns 0 or -errno (-EEXIST). */
int odb_create(const char *path, const void *header, size_t header_size, struct error *err);

/* Writes a header and an empty database, as odb_create(), to the new file @fd. 0 or -errno. */
int odb_start(int fd, const void *header, size_t header_size);

/* Opens the database in @path, which follows a header of @header_size bytes; a new file gets a
 * zeroed header. Readers may open a file that is growing, or was growing when its writer died.
 * Returns 0 or -errno: -EBADMSG if the file is not a sample database or is damaged beyond what
 * ODB_WRITE repairs, -EINVAL if its length does not match its number of slots. The caller closes
 * *ret. */
int odb_open(const char *path, enum odb_mode mode, size_t header_size, struct odb **ret,
	     struct error *err);
/* As odb_open(), for the open file @fd, which *ret owns on success; @path is for messages. */
int odb_open_fd(int fd, const char *path, enum odb_mode mode, size_t header_size, struct odb **ret,
		struct error *err);
/* Returns whether the file is empty, or header and descriptor are all zeros: its writer died while
 * creating it. */
bool odb_is_blank(int fd, size_t header_size);
/* Unmaps and closes the file and frees @db; NULL is fine. */
void odb_close(struct odb *db);
DEFINE_CLEANUP(struct odb *, odb_close);

/* Adds @count to the value of @key, which saturates at UINT32_MAX. Returns 0, or -errno (-ENOSPC)
 * with nothing changed if a new key needs a larger file and the file cannot grow. */
int odb_add(struct odb *db, uint64_t key, uint32_t count);

/* The steps of a look-up, for odb_prefetch(). Adding many keys in random order is limited by memory
 * latency; prefetching hides it. Each step reads what the previous one prefetched, so do the steps
 * of several other keys in between. */
enum odb_step { ODB_STEP_BUCKET, ODB_STEP_FIRST, ODB_STEP_SECOND };
/* Prefetches the memory that odb_add() of @key will read in @step, without waiting for it. */
void odb_prefetch(const struct odb *db, uint64_t key, enum odb_step step);

/* Maps all pages of the file at once, which is cheaper than a page fault for each. Worth calling
 * before many keys are added to a file just opened. */
void odb_populate(struct odb *db);

/* Returns the value of @key, 0 if there is none. A database opened for reading is scanned node by
 * node, because a writer may be changing the chains. */
uint32_t odb_get(const struct odb *db, uint64_t key);

/* Returns the nodes in use, in order of insertion; borrowed until the next odb_add() or
 * odb_close(). After a crash a key can occur twice; readers add the values. */
const struct odb_node *odb_nodes(const struct odb *db, size_t *ret_count);

/* Releases the memory of the first @count nodes of a mapping opened for reading; another access
 * reads them from the file again. Keeps readers of long files from holding all of it in memory. */
void odb_forget(const struct odb *db, size_t count);

/* Returns the header bytes, writable with ODB_WRITE; borrowed until the next odb_add() or
 * odb_close(). */
void *odb_header(struct odb *db);

/* Returns the number of bytes currently mapped. */
size_t odb_mapped_bytes(const struct odb *db);

/* Writes the changed pages to disk and waits until it is done. Returns 0 or -errno. */
int odb_sync(struct odb *db);
