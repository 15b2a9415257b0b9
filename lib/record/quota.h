/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the recording of samples may take: memory, disk, descriptors. Where one of them runs short,
 * it does without things, in the order of the levels, one after the other, and at last pauses
 * sampling until there is room. What it does without stays so until the session is set up anew, for
 * half of it would be worth little.
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

/* Levels: name, what is done without. */
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

/* Limits, each 0: none. */
struct quota_limits {
	uint64_t memory;    /* bytes: of this process, of those that read for it, in the kernel */
	uint64_t disk;	    /* bytes of the session directory, saved sessions among them */
	uint64_t keep_free; /* bytes of its file system that others shall find free */
	uint64_t files;	    /* descriptors */
};

/* What is in use, in the units of the limits; ->free: bytes of the file system. */
struct quota_use {
	uint64_t memory, disk, free, files;
	uint64_t parser, kernel; /* parts of ->memory: of the processes that read, of the driver */
};

struct quota_reading {
	struct quota_limits limits;
	struct quota_use use; /* as of the last look */
	enum quota_level level;
	const char *what; /* ran short: "memory" and so on; NULL: nothing did */
};

/* @session_dir is copied; @parser (borrowed, may be NULL) is whose processes count. Caller frees.
 */
struct quota *quota_new(const struct quota_limits *limits, const char *session_dir,
			struct parser *parser);
/* NULL is fine. */
void quota_free(struct quota *q);
DEFINE_CLEANUP(struct quota *, quota_free);

/* The level that @use asks for at the time @now_ns; @useful are the levels, as bits, that would
 * spare anything. */
enum quota_level quota_step(struct quota *q, const struct quota_use *use, uint64_t now_ns,
			    unsigned int useful);
/* A walk through the session, to add up what it takes, may take one part of so many of the time;
 * @free_then and @free_now are the bytes of the file system that were free at the last walk and
 * now. */
unsigned int quota_walk_share(const struct quota *q, uint64_t free_then, uint64_t free_now);
/* Looks what is in use, if it is time to, and has @rec do without what it must; stops and starts
 * the driver, which samples. */
void quota_keep(struct quota *q, struct record *rec, const struct driver_ops *ops,
		struct driver *driver);
/* The session was emptied or set up anew: nothing is left out. A pause goes on. */
void quota_reset(struct quota *q);
/* Limits, use and level. */
void quota_read(const struct quota *q, struct quota_reading *ret);
/* The level's word, and what it means. */
const char *quota_level_name(enum quota_level level);
/* What recording gives up at the level. */
const char *quota_level_meaning(enum quota_level level);
