/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits on memory, disk and descriptors for recording samples. If memory runs short, what is in
 * it only for speed is freed. If that is not enough, or something else runs short, work is shed
 * level by level; the last level pauses sampling until there is room. If there is room for some
 * time, the levels are undone one by one. The time doubles whenever one had to be shed again.
 *
 *	struct quota *q = quota_new(&limits, session_dir, parser);
 *	quota_keep(q, record, ops, driver);	a few times a second, while it samples
 *	quota_free(q);
 */
#pragma once

#include "base/macro.h"
#include "driver/driver.h"

struct parser;
struct quota;
struct record;

/* Levels: name, what is shed. */
#define QUOTA_LEVELS(X)                                                                            \
	X(EASY, "none", "nothing is left out")                                                     \
	X(CHAINS, "chains", "call chains are not kept")                                            \
	X(JIT, "jit", "JIT code gets no names")                                                    \
	X(THREADS, "threads", "threads and CPUs are merged")                                       \
	X(PAUSED, "paused", "sampling pauses until there is room")

enum quota_level {
#define X(name, word, text) QUOTA_##name,
	QUOTA_LEVELS(X)
#undef X
		QUOTA_LEVEL_COUNT_
};

/* Limits; 0: none. */
struct quota_limits {
	uint64_t memory;    /* bytes: of this process, its parser, and in the kernel */
	uint64_t disk;	    /* bytes of the session directory, saved sessions among them */
	uint64_t keep_free; /* bytes of its file system to leave free */
	uint64_t files;	    /* descriptors */
};

/* What is in use, in the units of the limits; ->free: bytes of the file system. Each sample file
 * and directory takes an inode; ->inodes is 0 where the file system makes them as needed. */
struct quota_use {
	uint64_t memory, disk, free, files;
	uint64_t inodes, inodes_free; /* of the file system */
	uint64_t parser, kernel;      /* parts of ->memory: of the parser, of the driver */
};

struct quota_reading {
	struct quota_limits limits;
	struct quota_use use; /* as of the last look */
	enum quota_level level;
	const char *what; /* what ran short: "memory" and so on; NULL: nothing */
};

/* @session_dir is copied. The processes of @parser (borrowed, may be NULL) count. Caller frees. */
struct quota *quota_new(const struct quota_limits *limits, const char *session_dir,
			struct parser *parser);
/* NULL is fine. */
void quota_free(struct quota *q);
DEFINE_CLEANUP(struct quota *, quota_free);

/* The level that @use requires at the time @now_ns (not 0); @useful are the levels, as bits, that
 * would free anything. */
enum quota_level quota_step(struct quota *q, const struct quota_use *use, uint64_t now_ns,
			    unsigned int useful);
/* Returns N: walks through the session, which add up its size, may take 1/N of the time. @free_then
 * and @free_now are the free bytes of the file system at the last walk and now. */
unsigned int quota_walk_share(const struct quota *q, uint64_t free_then, uint64_t free_now);
/* Measures what is in use, if it is time, and makes @rec shed what is necessary; stops and starts
 * the sampling driver. */
void quota_keep(struct quota *q, struct record *rec, const struct driver_ops *ops,
		struct driver *driver);
/* The memory of a parser that counts, when it uses @bytes at the time @now_ns: the least of some
 * seconds. What it uses for one file, which a process of anybody chooses, is limited by itself and
 * given back, and shedding would not reduce it. */
uint64_t quota_parser_memory(struct quota *q, uint64_t bytes, uint64_t now_ns);
/* Whether free memory is given back to the system now; @is_freed: a kind of data was shed. Without
 * that it is seldom, because it takes time. */
bool quota_trims(struct quota *q, bool is_freed, uint64_t now_ns);
/* Ends all shedding after the session was emptied or reconfigured. A pause continues. */
void quota_reset(struct quota *q);
/* Reads limits, use and level. */
void quota_read(const struct quota *q, struct quota_reading *ret);
/* The name of the level. */
const char *quota_level_name(enum quota_level level);
/* What the level sheds, as text. */
const char *quota_level_meaning(enum quota_level level);
