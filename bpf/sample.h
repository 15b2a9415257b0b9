/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the sampling program and the driver that loads it have in common: keys and values of the
 * maps, and what comes through the ring. Sizes and offsets are the same on both sides.
 */
#pragma once

#include "stretch.h"
#include "unwind_step.h"

#include <linux/types.h>

enum {
	SAMPLE_PATH_BYTES = 4096, /* of a path, as names with a NUL behind each */
	SAMPLE_NAME_BYTES = 256,  /* of one of them, the NUL included */
	SAMPLE_PATH_NAMES = 128,  /* and mounts, in a path */
	SAMPLE_COMM_BYTES = 16,
	SAMPLE_PAGE_SHIFT = 12,
};

/* A file, wherever it was opened: what the kernel itself knows it by. */
struct sample_file {
	__u64 inode;
	__u32 device; /* the kernel's dev_t: major << 20 | minor */
	__u32 generation;
};
_Static_assert(sizeof(struct sample_file) == 16, "no padding");

/* Memory that has no file, or none with a name. */
struct sample_region {
	__u64 start, end; /* addresses, end excluded */
};
_Static_assert(sizeof(struct sample_region) == 16, "as long as a file");

/* When code ran that may give way to other code before anybody asks what it was. */
struct sample_moment {
	__u64 at_ns; /* CLOCK_MONOTONIC */
	__u64 reserved;
};
_Static_assert(sizeof(struct sample_moment) == 16, "as long as a file");

/* What a program counter was in. */
enum sample_place {
	SAMPLE_KERNEL, /* offset: absolute; moment: 0 where all is in the kernel's own text */
	SAMPLE_FILE,   /* offset: in the file */
	SAMPLE_ANON,   /* offset: from the start of the region */
	SAMPLE_HEAP,
	SAMPLE_STACK,
	SAMPLE_VDSO, /* offset: from its start */
	SAMPLE_PLACE_COUNT_
};

/* What was running. */
enum sample_app {
	SAMPLE_APP_UNKNOWN, /* a process that has given its memory back, on its last steps */
	SAMPLE_APP_FILE,
	SAMPLE_APP_THREAD, /* of the kernel, told by its name */
	SAMPLE_APP_COUNT_
};

/* All samples of one key are counted together. Bytes that are not in use are 0. */
struct sample_key {
	__u64 offset;
	union {
		struct sample_file file;
		struct sample_region region;
		struct sample_moment moment;
	} image;
	union {
		struct sample_file file;
		char comm[SAMPLE_COMM_BYTES];
	} app;
	__u32 tgid, tid;
	__u16 cpu;
	__u8 counter;	   /* index of the event */
	__u8 place : 4;	   /* enum sample_place */
	__u8 app_kind : 4; /* enum sample_app */
	__u32 cgroup;	   /* the lower half of its number, if that is asked for */
	__u64 chain;	   /* of the callers; 0: not known */
};
_Static_assert(sizeof(struct sample_key) == 64, "no padding");

/* A key and what was counted under it. A key may be there more than once: then all count. */
struct sample_count {
	struct sample_key key;
	__u64 count;
};
_Static_assert(sizeof(struct sample_count) == 72, "no padding");

/* Totals of a CPU. Samples count as what they stand for, but for those received. */
struct sample_counters {
	__u64 received;	      /* times the program ran for an event */
	__u64 stood_for;      /* samples that were not taken, for which others stand */
	__u64 run_ns;	      /* in the program */
	__u64 filtered;	      /* of processes that are not followed */
	__u64 map_full;	      /* samples dropped: no room for another key */
	__u64 no_mapping;     /* the address is in no mapping */
	__u64 no_tree;	      /* the mappings could not be read */
	__u64 ring_full;      /* paths that could not be told, to be told again */
	__u64 path_truncated; /* too long, or too many names */
	__u64 follow_full;    /* processes that should have been followed */
	__u64 chain_full;     /* samples without their callers: no room for another chain */
	__u64 frames;	      /* looked for, of user space */
	__u64 unwatched;      /* times off the CPU not measured: no room, or the end was not seen */
};

/* Programs that may interrupt each other on a CPU have counters, and room to work in, of their
 * own. */
enum sample_slot {
	SAMPLE_SLOT_EVENT,  /* samples of events */
	SAMPLE_SLOT_SWITCH, /* tasks that leave their CPUs, where that is asked for */
	SAMPLE_SLOT_COUNT_
};

/* What comes through the ring; the first word of each. */
enum sample_message_kind {
	SAMPLE_WAKE, /* nothing but the word: the map fills */
	SAMPLE_IMAGE,
	SAMPLE_CHAIN,
	SAMPLE_TABLE, /* as SAMPLE_IMAGE, in the ring "wants": its unwind table is needed */
};

/* A file seen for the first time. */
struct sample_image {
	__u32 kind;
	__u32 tgid; /* who had it mapped or ran it */
	struct sample_file file;
	struct sample_file seen; /* what stat() of the path tells: another inode on an overlay */
	struct sample_region mapped; /* 0: not mapped, but executed */
	__u8 nameless;		     /* memfd and its like: ->path is one name, in no directory */
	__u8 truncated;
	__u8 reserved[2];
	__u32 length;		      /* of path in bytes */
	char path[SAMPLE_PATH_BYTES]; /* names, the last of the path first, each with its NUL */
};
_Static_assert(sizeof(struct sample_image) == 64 + SAMPLE_PATH_BYTES, "no padding");

enum {
	SAMPLE_DEPTH_MAX = 1024,
	SAMPLE_KERNEL_MAX = 127, /* addresses of the kernel in a chain */
	SAMPLE_FRAME_WORDS = 3,
	SAMPLE_CHAIN_WORDS = SAMPLE_KERNEL_MAX + SAMPLE_FRAME_WORDS * SAMPLE_DEPTH_MAX,
	SAMPLE_FRAME_PLACE_SHIFT = 56,
};

/* A caller in user space, as it stands in a chain. */
struct sample_frame {
	__u64 place_offset; /* enum sample_place << SAMPLE_FRAME_PLACE_SHIFT | offset */
	union {
		struct sample_file file;
		struct sample_region region;
	} image;
};
_Static_assert(sizeof(struct sample_frame) == SAMPLE_FRAME_WORDS * 8, "no padding");

/* Callers that were not seen together before: first addresses of the kernel, then frames. */
struct sample_chain {
	__u32 kind;
	__u32 tgid; /* of regions */
	__u64 id;
	__u16 end; /* enum chain_end */
	__u16 kernel_count;
	__u32 words; /* in use, of ->data */
	__u64 data[SAMPLE_CHAIN_WORDS];
};
_Static_assert(sizeof(struct sample_chain) == 24 + 8 * SAMPLE_CHAIN_WORDS, "no padding");

/* Unwind tables, where the program finds them. A file's number leads to its table, that to its
 * pages of 64 KiB of code, those to rows in a chunk: a page's rows lie in one. */
enum {
	SAMPLE_TABLES_MAX = 16384,
	SAMPLE_PAGES_MAX = 1 << 17,
	SAMPLE_CHUNK_ROWS = 1 << 16,
	SAMPLE_CHUNKS_MAX = 1024,
};

/* In the place of a number. */
enum {
	SAMPLE_TABLE_WANTED = 0,
	SAMPLE_TABLE_NONE = 0xfffffffe,	  /* no unwind information */
	SAMPLE_TABLE_BUDGET = 0xffffffff, /* no room */
};

struct sample_table {
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX]; /* those of size 0 are not in use */
	__u32 first_page, page_count;
	__u32 used; /* control.round when it was last looked into */
	__u32 reserved;
};

struct sample_page {
	__u16 chunk, start; /* of the rows; their number is 0 where there are none */
	__u32 rows;
};

struct sample_chunk {
	struct unwind_row rows[SAMPLE_CHUNK_ROWS];
};

/* A task off its CPU, by its number. */
struct sample_left {
	__u64 since_ns; /* CLOCK_MONOTONIC */
	struct sample_key key;
};
_Static_assert(sizeof(struct sample_left) == 72, "no padding");

/* State of a process that is followed. */
enum sample_follow {
	SAMPLE_FOLLOW_NONE,
	SAMPLE_FOLLOW_WAITING, /* not sampled before it executes something */
	SAMPLE_FOLLOW_ON,
	SAMPLE_FOLLOW_LEAVING, /* exits, still sampled */
};

/* Settings, fixed before the program is loaded. */
struct sample_config {
	__u32 follow;	     /* only processes in the map "followed" */
	__u32 keys;	     /* room for so many, at each place (run_place()) and in each round */
	__u32 key_slots;     /* of each place, a power of two */
	__u32 places;	     /* CPUs that there can be, as often as there are slots */
	__u32 wake_at;	     /* keys at a place that are reason to wake the reader */
	__u32 wake_at_bytes; /* in the ring, likewise */
	__u32 depth;	     /* frames of a chain, the sample itself among them; 0: no chains */
	__u32 by_frame_pointers;
	__u32 pass_on;		      /* samples go into the event's ring as well */
	__u32 cgroups;		      /* keys have them */
	__u32 offcpu_blocked;	      /* tasks that could have gone on do not count */
	__u32 cpus;		      /* that there can be */
	__u64 sched_start, sched_end; /* the scheduler's code; 0: not known */
};

/* Shared while the program runs. */
struct sample_control {
	__u32 round;	/* of counting, between two drains; from 1 on, for 0 is where nothing was */
	__u32 tables;	/* times that the numbers of tables were taken back */
	__u32 followed; /* processes that live */
	__u32 offcpu;	/* time off the CPU counts, under the number of the event and 1; 0: not */
	__u32 memory;	/* code without a file was counted in this round */
	__u32 found;	/* of the self-test: */
	struct sample_region test_region;
	struct sample_file test_file, test_seen;
	__u64 test_offset;
	__u64 text_start, text_bytes; /* the kernel's own code, which stays where it is */
};

/* Says whether a CPU is inside the program: odd; what the program is told for this CPU, and how
 * much it counted. A line of the cache each. */
struct sample_gate {
	__u64 passes;
	__u32 stretch; /* samples that each one taken stands for, in 1/STRETCH_ONE */
	__u32 used[2]; /* keys made in the last even and odd round */
	__u32 reserved;
	__u64 padding[5];
};
_Static_assert(sizeof(struct sample_gate) == 64, "a line of the cache");
