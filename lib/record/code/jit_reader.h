/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what many processes write about their JIT code, in turns: in a call only so much and for so
 * long; each user gets its turn, and each process of a user. The code of all processes takes a
 * limited amount of memory, which users and processes share (base/share.h). What does not fit is
 * read when there is memory again.
 *
 * With an opener, which is asked in a thread, the files are searched for and read elsewhere, and
 * nobody waits for one that does not answer: its process gets no names meanwhile.
 *
 *	struct jit_reader *r = jit_reader_new("", memory, opener);
 *	struct jit_process *p = jit_process_new(r, tgid);
 *	jit_reader_sync(r, parser, now, false);
 *	code = jit_find(p->jit, address, now);
 *	jit_process_free(p);
 *	jit_reader_free(r);
 */
#pragma once

#include "base/macro.h"
#include "jit/jit_files.h"
#include "jit/jit_source.h"
#include "record/code/java_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attacher;
struct jit_code;
struct jit_reader;
struct opener;
struct parser;
struct relief;

enum {
	JIT_SYNC_BYTES = 8 << 20,      /* read in a call; in turns, a quarter */
	JIT_SYNC_BYTES_ALL = 64 << 20, /* read in a call that reads all */
	JIT_MEMORY_DEFAULT = 64 << 20, /* of all processes */
};

/* The processes of a user. */
struct jit_user {
	uint64_t turn;		   /* the last one it had */
	size_t bytes;		   /* of memory, of its code */
	size_t waiting, processes; /* numbers; of waiting samples */
	uint32_t uid;
};

/* A process that generates code; its members are for reading. */
struct jit_process {
	uint32_t tgid;
	uint64_t serial; /* unlike a PID, used once */
	struct jit_reader *reader;
	struct jit_user *user;
	struct jit_files *files;
	struct jit_source *sources[JIT_FILES_MAX];
	size_t source_count;
	size_t at;	/* the source to read next */
	bool searching; /* for files */
	bool searched;	/* for files, at least once, as far as it is possible */
	bool in_memory; /* some of its code was found there */
	bool found;	/* one, since jit_process_search() */
	bool again;	/* its perf maps were written again */
	struct java_map java;
	struct jit *jit;
	struct jit *found_early; /* to be added to it; or NULL */
	size_t bytes;		 /* of ->jit, as counted */
	size_t dropped;
	uint64_t turn;	/* the last one it had */
	uint64_t known; /* until when all was read that was written; 0 until it is ->searched */
	bool unread;	/* there is more to read */
	bool put_off;	/* it is read further when there is memory */
};

/* @root: parent of /proc. @memory: limit for all processes, 0: the default. @opener, borrowed,
 * opens the files of this machine; NULL: this process does. Caller frees, after all processes. */
struct jit_reader *jit_reader_new(const char *root, uint64_t memory, struct opener *opener);
/* Has @a, borrowed, ask Java's virtual machines that write no description; NULL: nobody does. */
void jit_reader_attacher(struct jit_reader *r, struct attacher *a);
/* While answers are awaited, @relief, borrowed, may work. */
void jit_reader_relieve(struct jit_reader *r, struct relief *relief);
/* NULL is fine. */
void jit_reader_free(struct jit_reader *r);
DEFINE_CLEANUP(struct jit_reader *, jit_reader_free);

/* Adds a process; caller frees, before the reader. */
struct jit_process *jit_process_new(struct jit_reader *r, uint32_t tgid);
/* NULL is fine. */
void jit_process_free(struct jit_process *p);
DEFINE_CLEANUP(struct jit_process *, jit_process_free);
/* Searches for files that were not found before; returns whether there are any. With an opener,
 * they may be found later: then the next call returns true. */
bool jit_process_search(struct jit_process *p);
/* Whether a jitdump describes its code, which is better than to ask for it or to find it. */
bool jit_process_is_exact(const struct jit_process *p);
/* Adds code that was found in the process's memory, unless that is so: now, or if it is not known
 * yet, at the end of a jit_reader_sync() that comes after a search for files. */
void jit_process_find(struct jit_process *p, const struct jit_code *code);
/* Whether code was found in its memory that a jitdump may describe better, if one appears. */
bool jit_process_needs_search(const struct jit_process *p);
/* Whether the code at @address was found, and will be added. */
bool jit_process_expects(const struct jit_process *p, uint64_t address);
/* Notes that code was met at @time that nothing describes. */
void jit_process_miss(struct jit_process *p, uint64_t time);
/* Whether all is known that a process which has ended wrote of what was there at @time. */
bool jit_process_has_all(const struct jit_process *p, uint64_t time);

/* Reads what is new, up to the limits; with @all, more at once. Answers of the opener are waited
 * for only a little; those that come later are taken in the next call. @now: CLOCK_MONOTONIC, ns. A
 * damaged source is logged once and ignored from then on. */
void jit_reader_sync(struct jit_reader *r, struct parser *parser, uint64_t now, bool all);

/* Asks one of Java's virtual machines for a map, if any has code that was missed since it was asked
 * last, and it is time. Returns whether it did. jit_reader_sync() takes the answer, and reads the
 * map. */
bool jit_reader_ask(struct jit_reader *r, uint64_t now);
/* The next questions need not wait long. */
void jit_reader_hurry(struct jit_reader *r);
/* Asks all, one after the other, which takes a second at most, because the session ends. Returns
 * whether there may be something to read. */
bool jit_reader_ask_last(struct jit_reader *r, uint64_t now);
/* Returns whether there is more to read, or an answer to come. */
bool jit_reader_has_more(const struct jit_reader *r);
/* The time until which the sources are complete: one with timestamps may write late. */
uint64_t jit_process_known_until(const struct jit_process *p);

/* Counts a sample that waits for the process's code, unless its user has too many of them. */
bool jit_process_may_wait(struct jit_process *p);
/* @count samples no longer wait. */
void jit_process_waited(struct jit_process *p, size_t count);

/* The counters of these names (stats/counters.h). */
struct jit_reader_stats {
	uint64_t jit_dropped, jit_put_off, java_maps, java_refused;
};

void jit_reader_stats(const struct jit_reader *r, struct jit_reader_stats *ret);
