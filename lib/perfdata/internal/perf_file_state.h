/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that read perf.data share (perf_file.h). */
#pragma once

#include "base/map.h"
#include "base/radix.h"
#include "perfdata/perf_file.h"

#include <stdint.h>

/* Records that perf itself writes, numbered from 64. */
enum perf_file_own {
	PERF_FILE_ATTR = 64,
	PERF_FILE_TRACING_DATA = 66,
	PERF_FILE_BUILD_ID = 67,
	PERF_FILE_AUXTRACE = 71,
	PERF_FILE_STAT = 76,
	PERF_FILE_EVENT_UPDATE = 78,
	PERF_FILE_FEATURE = 80,
	PERF_FILE_COMPRESSED = 81,
	PERF_FILE_COMPRESSED2 = 83,
	PERF_FILE_OWN_LAST = PERF_FILE_COMPRESSED2
};

struct perf_file {
	const char *path;  /* borrowed for perf_file_open() */
	struct span data;  /* all records */
	uint8_t *expanded; /* memory of ->data if some records were compressed, else NULL */
	struct perf_file_event *events;
	size_t event_count, event_room;
	size_t id_count;  /* of all events */
	struct map by_id; /* id: index of the event + 1 */
	struct perf_file_machine machine;
	struct perf_file_build_id *build_ids; /* paths point into the file */
	size_t build_id_count, build_id_room;
	struct radix_entry *places; /* records of the kernel: time, offset in ->data */
	size_t place_count, place_room;
	struct perf_file_losses losses;
};

/* Takes the next record of @in, header included, with whatever follows it outside of its size. 0;
 * -ENODATA at the end, also of a file that is cut short, which is noted. */
int perf_file_next(struct perf_file *f, struct span *in, struct perf_event_header *ret,
		   struct span *ret_payload);

/* Adds an event with the @bytes of its attributes and the @ids, u64 each, by which records refer to
 * it. 0 or -EBADMSG. */
int perf_file_add_event(struct perf_file *f, struct span bytes, struct span ids);
/* Adds the build-id in the payload of a PERF_FILE_BUILD_ID, or of an entry of that feature, which
 * has the same form. */
void perf_file_add_build_id(struct perf_file *f, uint16_t misc, struct span payload);
/* Reads feature number @number. What is malformed is skipped and counted. */
void perf_file_feature(struct perf_file *f, uint64_t number, struct span bytes);

/* Sets the name of an event that the payload of a PERF_FILE_EVENT_UPDATE has. */
void perf_file_name_event(struct perf_file *f, struct span payload);

/* The event that a record refers to. 0, or -EBADMSG if it is unknown. */
int perf_file_event_of(const struct perf_file *f, uint32_t type, struct span payload, size_t *ret);
/* Cuts the trailer, with time and task, off the payload of a record that is no sample. */
struct span perf_file_trailer(const struct perf_file *f, const struct perf_file_record *record,
			      struct span *payload);
/* The time in such a trailer; 0 if there is none. */
uint64_t perf_file_trailer_time(const struct perf_file *f, size_t event, struct span trailer);

/* Replaces ->data, of which some records are compressed, by one in which none is. 0, or -ENOTSUP
 * with the reason. */
int perf_file_expand(struct perf_file *f, struct error *err);
