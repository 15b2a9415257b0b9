/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the sampling program in the kernel and the driver that loads it: the keys and values of
 * the maps, and the messages in the ring. Sizes and offsets are the same on both sides.
 */
#pragma once

#include "interpreter.h"
#include "offcpu_reason.h"
#include "offcpu_squares.h"
#include "stretch.h"
#include "unwind_step.h"

#include <linux/types.h>

enum {
	SAMPLE_PATH_BYTES = 4096, /* of a path, as names with a NUL after each */
	SAMPLE_NAME_BYTES = 256,  /* of one name, including the NUL */
	SAMPLE_PATH_NAMES = 128,  /* and mounts, in one path */
	SAMPLE_COMM_BYTES = 16,
	SAMPLE_PAGE_SHIFT = 12,
	SAMPLE_OFFCPU_EVENTS = 8, /* one for each reason, and one for all others */
};

/* A file, however it was opened: its identity in the kernel. For its unwind table, the vdso is file
 * 0, and that of 32-bit processes the one with the bytes of its struct sample_region. */
struct sample_file {
	__u64 inode;
	__u32 device; /* the kernel's dev_t: major << 20 | minor */
	__u32 generation;
};
_Static_assert(sizeof(struct sample_file) == 16, "no padding");

/* Memory without a file, or with a file that has no name. */
struct sample_region {
	__u64 start, end; /* addresses, end excluded */
};
_Static_assert(sizeof(struct sample_region) == 16, "as long as a file");

/* The time at which code ran that may be replaced before user space looks it up. */
struct sample_moment {
	__u64 at_ns; /* CLOCK_MONOTONIC */
	__u64 reserved;
};
_Static_assert(sizeof(struct sample_moment) == 16, "as long as a file");

/* What a program counter pointed to. */
enum sample_place {
	SAMPLE_KERNEL, /* offset: absolute; moment: 0 if all is in the kernel's own text */
	SAMPLE_FILE,   /* offset: in the file */
	SAMPLE_ANON,   /* offset: from the start of the region */
	SAMPLE_HEAP,
	SAMPLE_STACK,
	SAMPLE_VDSO,	    /* offset: from its start */
	SAMPLE_CODE_OBJECT, /* offset: in bytecode; image: id of a struct sample_function, 0 */
	SAMPLE_VDSO_32,	    /* of a 32-bit process; offset: from its start; region: 0, its bytes */
	SAMPLE_WAKER,	    /* offset: moment, as image.moment, and enum sample_waker */
	SAMPLE_PLACE_COUNT_
};

/* Who ended a wait, if its time counts at the waker and its place is the first caller. */
enum sample_waker {
	SAMPLE_WAKER_NONE, /* nobody until the measurement ended */
	SAMPLE_WAKER_TASK,
	SAMPLE_WAKER_INTERRUPT,
	SAMPLE_WAKER_UNKNOWN, /* no room to keep it, or not seen */
};
enum { SAMPLE_WAKER_MASK = 3 };

/* What was running. */
enum sample_app {
	SAMPLE_APP_UNKNOWN, /* an exiting process whose executable was not kept */
	SAMPLE_APP_FILE,
	SAMPLE_APP_THREAD, /* a kernel thread, by its name */
	SAMPLE_APP_COUNT_
};

/* All samples with the same key are counted together. Unused bytes are 0. */
struct sample_key {
	__u64 offset;
	union {
		struct sample_file file;
		struct sample_region region;
		struct sample_moment moment;
		char waker[SAMPLE_COMM_BYTES]; /* its name, if it is a task */
	} image;
	union {
		struct sample_file file;
		char comm[SAMPLE_COMM_BYTES];
	} app;
	__u32 tgid, tid;
	__u16 cpu;
	__u8 counter;		      /* index of the event */
	__u8 place : 4;		      /* enum sample_place */
	__u8 app_kind : 4;	      /* enum sample_app */
	__u32 cgroup;		      /* the lower half of its number, if requested */
	__u64 chain;		      /* number of the callers; 0: not known */
	char comm[SAMPLE_COMM_BYTES]; /* the thread's name, if requested */
};
_Static_assert(sizeof(struct sample_key) == 80, "no padding");

/* The time at which kernel code ran that may be replaced; 0: there is none in the sample. */
static inline __u64 sample_key_moment(const struct sample_key *key)
{
	if (key->place == SAMPLE_KERNEL)
		return key->image.moment.at_ns;
	return key->place == SAMPLE_WAKER ? key->offset & ~(__u64)SAMPLE_WAKER_MASK : 0;
}

/* A key and its count. A key may occur more than once: then the counts add up. */
struct sample_count {
	struct sample_key key;
	__u64 count;
};
_Static_assert(sizeof(struct sample_count) == 88, "no padding");

/* Totals of a CPU. A sample counts as the number that it represents, except in ->received. */
struct sample_counters {
	__u64 received;	      /* times the program ran for an event */
	__u64 stood_for;      /* samples not taken, because others represent them */
	__u64 run_ns;	      /* nanoseconds in the program */
	__u64 filtered;	      /* of processes that are not followed */
	__u64 map_full;	      /* samples dropped: no room for another key */
	__u64 skipped;	      /* samples of clocks that the kernel skipped */
	__u64 no_mapping;     /* samples whose address is in no mapping */
	__u64 no_tree;	      /* samples whose mappings could not be read */
	__u64 ring_full;      /* paths that could not be sent yet */
	__u64 path_truncated; /* too long, or too many names */
	__u64 wakes_held;     /* files sampled first that did not wake user space */
	__u64 follow_full;    /* processes that could not be followed */
	__u64 chain_full;     /* samples without their callers: no room for another chain */
	__u64 frames;	      /* user-space frames that were looked up */
	__u64 exe_full;	      /* processes whose executable could not be kept */
	/* Samples whose interpreted frames are missing or have no names, because of: */
	__u64 script_no_thread;	 /* a thread without a thread state */
	__u64 script_bad_frame;	 /* a frame that could not be read */
	__u64 script_bad_code;	 /* a frame without a code object */
	__u64 script_unreadable; /* names that could not be read */
	__u64 script_ring_full;
	__u64 unwatched; /* times off the CPU that were not measured: no room, or no end seen */
	struct offcpu_squares waits[SAMPLE_OFFCPU_EVENTS]; /* by event of time off the CPU */
};

/* Programs that may interrupt each other on a CPU have their own counters and working memory. */
enum sample_slot {
	SAMPLE_SLOT_EVENT,   /* samples of events */
	SAMPLE_SLOT_SWITCH,  /* tasks that leave their CPUs, if requested */
	SAMPLE_SLOT_PROCESS, /* processes that call execve(); counts no samples */
	SAMPLE_SLOT_COUNT_
};
enum { SAMPLE_CHAIN_SLOTS = SAMPLE_SLOT_SWITCH + 1 }; /* the number of those that count */

/* The first word of each message in the ring. */
enum sample_message_kind {
	SAMPLE_WAKE, /* only this word: the map of counts is filling */
	SAMPLE_IMAGE,
	SAMPLE_CHAIN,
	SAMPLE_TABLE, /* as SAMPLE_IMAGE, in the ring "wants": requests its unwind table */
	SAMPLE_FUNCTION,
	SAMPLE_DOUBT, /* in both rings */
};

/* A file seen for the first time. */
struct sample_image {
	__u32 kind;
	__u32 tgid; /* the process that mapped it or ran it */
	struct sample_file file;
	struct sample_file seen; /* what stat() of the path returns: another inode on an overlay */
	struct sample_region mapped; /* 0: executed, not mapped */
	__u8 nameless;		     /* a memfd or the like: ->path is one name, in no directory */
	__u8 truncated;
	__u8 sampled;		      /* not only executed */
	__u8 executed;		      /* right now */
	__u32 length;		      /* of path in bytes */
	char path[SAMPLE_PATH_BYTES]; /* names, the last of the path first, each with its NUL */
};
_Static_assert(sizeof(struct sample_image) == 64 + SAMPLE_PATH_BYTES, "no padding");

enum {
	SAMPLE_FUNCTION_TEXT = 1024,  /* bytes of a name */
	SAMPLE_FUNCTION_LINES = 8192, /* of a line table */
	SAMPLE_TEXT_UTF8 = 255,	      /* instead of the width of characters */
	SAMPLE_FUNCTIONS_MAX = 16384, /* that each slot remembers to have sent */
	SAMPLE_SCRIPT_FRAMES = 512,   /* of a thread, with their boundaries */
	SAMPLE_INTERPRETERS_MAX = 64, /* interpreters with different layouts */
};

/* An interpreted function seen for the first time in a process. Texts have characters of 1, 2 or 4
 * bytes; width 0: ASCII. */
struct sample_function {
	__u32 kind;
	__u32 tgid;
	__u64 id;
	__u32 line;	  /* of its definition */
	__u32 code_bytes; /* its bytecode */
	__u32 name_bytes, file_bytes, lines_bytes;
	__u16 version; /* of the language; see struct python_layout */
	__u8 name_width, file_width;
	__u32 language; /* enum interpreter_kind */
	__u32 reserved;
	char name[SAMPLE_FUNCTION_TEXT], file[SAMPLE_FUNCTION_TEXT];
	/* PHP: the name of the class, in UTF-8. Java: struct sample_method; in code that is no
	 * method only the name makes sense. Only the bytes in use are sent. */
	char lines[SAMPLE_FUNCTION_LINES];
};
_Static_assert(sizeof(struct sample_function) == 48 + 2 * 1024 + 8192, "no padding");

/* What is sent of a method of Java, in sample_function.lines. */
struct sample_method {
	__u64 code, bytes; /* address and length of generated code; 0: it is interpreted */
	__u32 class_bytes, signature_bytes;
	char class_name[SAMPLE_FUNCTION_TEXT], signature[SAMPLE_FUNCTION_TEXT];
	char lines[SAMPLE_FUNCTION_LINES / 2]; /* as HotSpot has it, with what follows it */
};
_Static_assert(sizeof(struct sample_method) <= SAMPLE_FUNCTION_LINES, "fits");

static inline const struct sample_method *sample_function_method(const struct sample_function *f)
{
	return (const void *)f->lines;
}

/* Whether it is not a function to count at, but the name of code that was generated. */
static inline int sample_function_is_generated(const struct sample_function *f)
{
	return f->language == INTERPRETER_JAVA && sample_function_method(f)->code;
}

enum {
	SAMPLE_DEPTH_MAX = 1024,
	SAMPLE_KERNEL_MAX = 127, /* kernel addresses in a chain */
	SAMPLE_FRAME_WORDS = 3,
	SAMPLE_CHAIN_WORDS = SAMPLE_KERNEL_MAX + SAMPLE_FRAME_WORDS * SAMPLE_DEPTH_MAX,
	SAMPLE_FRAME_PLACE_SHIFT = 56,
};

/* A caller in user space, as stored in a chain. */
struct sample_frame {
	__u64 place_offset; /* enum sample_place << SAMPLE_FRAME_PLACE_SHIFT | offset */
	union {
		struct sample_file file;
		struct sample_region region;
	} image;
};
_Static_assert(sizeof(struct sample_frame) == SAMPLE_FRAME_WORDS * 8, "no padding");

/* The number of a chain, which is not 0 and contains the slot that it was seen in. */
static inline __u64 sample_chain_id(__u64 hash, __u32 slot)
{
	return (hash & ~1ULL) | 2 | slot;
}

static inline __u32 sample_chain_slot(__u64 id)
{
	return id & 1;
}

/* A list of callers, when it is first seen: kernel addresses, then frames. */
struct sample_chain {
	__u32 kind;
	__u32 tgid; /* the process, for regions */
	__u64 id;
	__u16 end; /* enum chain_end */
	__u16 kernel_count;
	__u32 words; /* in use, of ->data */
	__u64 data[SAMPLE_CHAIN_WORDS];
};
_Static_assert(sizeof(struct sample_chain) == 24 + 8 * SAMPLE_CHAIN_WORDS, "no padding");

/* How the program finds unwind tables: a file has the number of its table, the table has pages, one
 * for each 64 KiB of code, and a page has its rows, all in one chunk. */
enum {
	SAMPLE_TABLES_MAX = 16384, /* files with a table or known to have none */
	SAMPLE_PAGES_MAX = 1 << 17,
	SAMPLE_CHUNK_ROWS = 1 << 16,
	SAMPLE_CHUNKS_MAX = 1024,
};

/* Instead of the number of a table. */
enum {
	SAMPLE_TABLE_WANTED = 0,
	SAMPLE_TABLE_NONE = 0xfffffffe,	  /* no unwind information */
	SAMPLE_TABLE_BUDGET = 0xffffffff, /* no room */
};

struct sample_table {
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX]; /* size 0: unused */
	__u32 first_page, page_count;
	__u32 used;	   /* control.round of the last lookup */
	__u32 interpreter; /* its number in the map "interpreters"; 0: the file is none */
};

struct sample_page {
	__u16 chunk, start; /* of its first row */
	__u32 rows;
};

struct sample_chunk {
	struct unwind_row rows[SAMPLE_CHUNK_ROWS];
};

enum { SAMPLE_COPIES_MAX = 4096 };

/* Code of a process in memory. */
struct sample_memory {
	struct sample_region region;
	__u32 tgid, reserved;
};

/* What user space found out about such memory: whether it is a copy of a file's text. */
struct sample_copy {
	struct sample_memory key; /* for the same reason as in struct sample_code */
	__u64 version;		  /* of the mapping when it was looked at */
	__u64 part;	   /* an address where the process has the file mapped; 0: it is no copy */
	__u64 offset;	   /* in the file, of the memory's start */
	__u64 used;	   /* control.round of the last lookup */
	__u64 compared_ns; /* when user space looked */
};
_Static_assert(sizeof(struct sample_copy) == 64, "no padding");

/* Asks whether memory is a copy of a file's text. */
struct sample_doubt {
	__u32 kind, reserved;
	__u64 version;
	struct sample_memory memory;
	struct sample_file file; /* 0: anonymous */
};

/* How to unwind 1 KiB of code that a process generated: rows with offsets in it, the first one at
 * 0, and the rules that they refer to. */
enum {
	SAMPLE_CODE_SHIFT = 10,
	SAMPLE_CODE_ROWS = 64,
	SAMPLE_CODE_RULES = 16,
	SAMPLE_CODE_ADDRESS_BITS = 48, /* code above has no rows */
};

struct sample_code {
	__u64 key; /* sample_code_key(), because memory of deleted entries is used again at once */
	__u32 row_count, rule_count;
	struct unwind_row rows[SAMPLE_CODE_ROWS];
	struct unwind_rule rules[SAMPLE_CODE_RULES];
};
_Static_assert(sizeof(struct sample_code) == 16 + 4 * 64 + 16 * 16, "no padding");

/* The key of the code at @address of process @tgid, which has at most 22 bits. */
static inline __u64 sample_code_key(__u32 tgid, __u64 address)
{
	return (__u64)tgid << (SAMPLE_CODE_ADDRESS_BITS - SAMPLE_CODE_SHIFT) |
	       address >> SAMPLE_CODE_SHIFT;
}

/* What a process executes. */
struct executable {
	__u64 started_ns; /* distinguishes the process from a later one with the same number */
	struct sample_file file;
};

/* A task off its CPU. */
struct sample_left {
	__u64 since_ns;	       /* CLOCK_MONOTONIC */
	struct sample_key key; /* counter: counted from control.offcpu - 1 */
};
_Static_assert(sizeof(struct sample_left) == 88, "no padding");

/* The state of a process that is followed. */
enum sample_follow {
	SAMPLE_FOLLOW_NONE,
	SAMPLE_FOLLOW_WAITING, /* not sampled until it calls execve() */
	SAMPLE_FOLLOW_ON,
	SAMPLE_FOLLOW_LEAVING, /* exiting, still sampled */
};

enum {
	SAMPLE_OFFCPU_REASONS = SAMPLE_OFFCPU_EVENTS,
	SAMPLE_CALLS_MAX = 512, /* system calls whose waits have a reason */
};
_Static_assert((int)OFFCPU_REASON_COUNT_ < (int)SAMPLE_OFFCPU_REASONS, "room for each reason");

/* Settings, which cannot change once the program is loaded. */
struct sample_config {
	__u32 follow;	 /* sample only processes in the map "followed" */
	__u32 keys;	 /* how many fit, at each place (run_place()) and in each round */
	__u32 key_slots; /* of each place, a power of two */
	__u32 places;	 /* number of possible CPUs times number of slots in use */
	__u32 wake_at;	 /* wake user space at this many keys at a place */
	__u32 depth;	 /* most frames of a chain, including the sample itself; 0: no chains */
	__u32 by_frame_pointers;
	__u32 pass_on;		      /* samples also go to the event's ring */
	__u32 cgroups;		      /* keys have the cgroup */
	__u32 comms;		      /* keys have the thread's name */
	__u32 interpreters;	      /* chains have the frames of interpreted code */
	__u32 cpus;		      /* possible ones */
	__u32 futex;		      /* the number of that system call */
	__u32 wakers;		      /* waits count at their wakers; needs ->depth */
	__u64 sched_start, sched_end; /* the scheduler's code; 0: not known */
	__u64 entry_start, entry_end; /* where interrupts enter the kernel; 0: not known */
	__u64 offcpu_min_us;	      /* shorter times off the CPU do not count */
	/* By enum offcpu_reason: which event of time off the CPU counts it, plus 1. */
	__u8 offcpu_events[SAMPLE_OFFCPU_REASONS];
	/* By system call: the enum offcpu_reason of a wait in it, plus 1; 0: not known. */
	__u8 offcpu_calls[SAMPLE_CALLS_MAX];
};

/* Shared with user space while the program runs. */
struct sample_control {
	__u32 round;	/* of counting, between two drains; from 1 on: 0 marks unused slots */
	__u32 tables;	/* how many times the numbers of tables were withdrawn */
	__u32 followed; /* followed processes that are alive */
	__u32 offcpu;	/* the first event of time off the CPU, plus 1; 0: not measured */
	__u32 program;	/* the number of take_sample */
	__u32 memory;	/* whether code without a file was counted in this round */
	__u32 codes;	/* entries in the map "codes" */
	__u32 names;	/* how many times the names of generated code were forgotten */
	__u32 found;	/* the self-test's results: */
	__u32 reserved;
	struct sample_region test_region;
	struct sample_file test_file, test_seen;
	__u64 test_offset;
	__u64 text_start, text_bytes; /* the kernel's own code, which is never replaced */
};

enum { SAMPLE_NO_CLOCKS = 4 };

/* Data that the program and user space exchange about one CPU and slot; one cache line. */
struct sample_gate {
	__u64 passes;  /* odd while the program runs */
	__u32 stretch; /* number of samples that each one represents, in 1/STRETCH_ONE */
	__u32 used[2]; /* number of keys in the last even and odd round */
	__u32 is_due;  /* a sample of ->clock, which has expired; see skipped.bpf.h */
	__u64 clock, no_clocks[SAMPLE_NO_CLOCKS];
};
_Static_assert(sizeof(struct sample_gate) == 64, "a cache line");
