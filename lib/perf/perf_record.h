/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes the kernel's perf records. Every event is opened with PERF_RECORD_FIELDS and
 * sample_id_all, so that every record has its time, its task and its event:
 *
 *	sample	header id ip pid,tid time [count, addresses of the call chain] ... [cgroup]
 *	others	header ... pid,tid time id
 *
 * A struct perf_record borrows its strings from the bytes it was decoded from.
 */
#pragma once

#include "base/span.h"
#include "file/file_identity.h"

#include <linux/perf_event.h>
#include <stdbool.h>

/* perf_event_attr.sample_type of every event. */
#define PERF_RECORD_FIELDS                                                                         \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

struct perf_record {
	uint32_t type;	   /* PERF_RECORD_* */
	uint16_t misc;	   /* PERF_RECORD_MISC_* */
	uint32_t pid, tid; /* the task; of a FORK the child */
	uint64_t time_ns;  /* CLOCK_MONOTONIC */
	uint64_t id;	   /* of the event that wrote it */
	union {
		struct { /* SAMPLE */
			uint64_t ip;
			struct span more; /* bytes after the fields of every event */
			uint64_t cgroup;  /* its number, if the event samples it; it ends ->more */
		};
		struct {			     /* MMAP2 */
			uint64_t start, end, offset; /* end excluded */
			struct file_identity file;
			const char *path; /* "//anon", "[vdso]", or a file's */
		} map;
		struct { /* COMM */
			const char *name;
			bool exec;
		} comm;
		struct { /* FORK, EXIT */
			uint32_t parent_pid, parent_tid;
		} task;
		struct { /* CGROUP */
			uint64_t id;
			const char *path;
		} new_cgroup;
		struct { /* KSYMBOL */
			uint64_t start, length;
			uint16_t type, flags; /* PERF_RECORD_KSYMBOL_TYPE_*, _FLAGS_* */
			const char *name;
		} code;
		uint64_t lost; /* LOST, LOST_SAMPLES: how many records */
	};
};

/* Moves the addresses of a sample's call chain, with the kernel's PERF_CONTEXT_ marks between them,
 * from the front of @more to *@ret. Returns 0, or -EBADMSG if there are fewer than announced. Only
 * for events that sample chains. */
int perf_record_callchain(struct span *more, struct span *ret);

/* Decodes the record @bytes (whole, with its header). Returns 0, or -EBADMSG if it is truncated or
 * malformed. For a type not named above, only the common fields are set. */
int perf_record_decode(struct span bytes, struct perf_record *ret);
