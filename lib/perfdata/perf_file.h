/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads perf.data, the file that perf record writes, or what it writes to a pipe. No byte of it is
 * trusted. The file borrows the bytes that it is opened with; all else is its own, and what it
 * returns is borrowed from it.
 *
 *	struct perf_file *f;
 *	if (perf_file_open(bytes, path, &f, err) == 0)
 *		for (i = 0; perf_file_record(f, i, &record); i++)
 *			printf("%u at %" PRIu64 "\n", record.type, record.time_ns);
 *	perf_file_close(f);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "base/span.h"
#include "file/build_id.h"
#include "file/file_identity.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One event that was sampled. */
struct perf_file_event {
	struct perf_event_attr attr; /* fields that the file is too old for are 0 */
	char *name;		     /* as perf prints it, "cpu-clock:u"; NULL: not known */
	uint64_t *ids;		     /* by which records refer to it */
	size_t id_count;
};

/* The build-id of a file that was sampled. */
struct perf_file_build_id {
	const char *path; /* or "[kernel.kallsyms]", "[vdso]" */
	struct build_id id;
};

/* What the file says of its machine; a string is NULL and a number 0 if that is not known. */
struct perf_file_machine {
	char *hostname, *release, *cpu, *cpu_id, *command;
	uint64_t cpus;			 /* online */
	uint64_t wall_ns, wall_clock_ns; /* the time of day, and that of the samples' clock then */
};

/* What could not be read. */
struct perf_file_losses {
	uint64_t bad;	  /* features and records of perf that are malformed */
	uint64_t unknown; /* records of an unknown kind, or with what is not read (AUX) */
	bool is_cut;	  /* the file ends too early */
};

/* A record of the kernel; its payload is after the header. */
struct perf_file_record {
	uint32_t type;	     /* PERF_RECORD_* */
	uint16_t misc;	     /* PERF_RECORD_MISC_* */
	uint64_t time_ns;    /* of the samples' clock; 0: before all samples */
	size_t event;	     /* index of its event; 0 where the record does not say */
	bool is_orphan;	     /* a sample of no known event */
	struct span payload; /* without the trailer that records other than samples have */
	struct span trailer; /* the sample_id, empty if there is none */
};

/* Where a sample was taken. */
struct perf_file_sample {
	uint64_t ip, time_ns, period;
	uint32_t pid, tid, cpu;
	struct span chain; /* addresses, with the kernel's marks between them; empty: none */
	bool has_chain;
	bool is_kernel_only; /* the chain has no callers in user space */
};

/* What a process, or the kernel, has mapped. */
struct perf_file_map {
	uint32_t pid;
	uint64_t start, end, offset;
	struct file_identity file; /* all 0: not known */
	struct build_id id;	   /* not known of most */
	const char *path;
};

struct perf_file;

/* Whether @bytes begin as perf's files do, of whatever version and byte order. */
bool perf_file_is(struct span bytes);
/* Reads the head, and puts the records in order of time. @path is for messages. 0, the caller
 * closes; or -EBADMSG, -ENOTSUP (another byte order, an old version, compression that is unknown)
 * with the reason in @err. A file that is cut short is read as far as it goes. */
int perf_file_open(struct span bytes, const char *path, struct perf_file **ret, struct error *err);
/* NULL is fine. */
void perf_file_close(struct perf_file *f);
DEFINE_CLEANUP(struct perf_file *, perf_file_close);

/* The events, at least one. */
const struct perf_file_event *perf_file_events(const struct perf_file *f, size_t *ret_count);
/* The machine. */
const struct perf_file_machine *perf_file_machine(const struct perf_file *f);
/* The build-ids that are known before all records. */
const struct perf_file_build_id *perf_file_build_ids(const struct perf_file *f, size_t *ret_count);
/* What was lost until now. */
const struct perf_file_losses *perf_file_losses(const struct perf_file *f);

/* Reads the @i-th record in order of time; false if there are no more. */
bool perf_file_record(const struct perf_file *f, size_t i, struct perf_file_record *ret);
/* Decodes a record that is a sample. 0, or -EBADMSG if it is malformed. */
int perf_file_sample(const struct perf_file *f, const struct perf_file_record *record,
		     struct perf_file_sample *ret);
/* Decodes a record that is a MMAP or MMAP2. 0, or -EBADMSG if it is malformed. */
int perf_file_map(const struct perf_file_record *record, struct perf_file_map *ret);
