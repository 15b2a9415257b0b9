/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The features of a perf.data file: sections after the records, or records of their own in a pipe.
 */
#include "base/mem.h"
#include "base/strbuf.h"
#include "perfdata/internal/perf_file_state.h"

#include <string.h>

/* Where the kernel and perf put build-ids: 20 bytes, or as many as follow if a flag says so. */
enum { BUILD_ID_BYTES = 20, BUILD_ID_FIELD = 24 };
#define MISC_BUILD_ID_SIZE 0x8000

/* Reads a string of perf's header: its length, padded, and then the bytes. Returns NULL, or a copy
 * that the caller frees. */
static char *take_string(struct span *in)
{
	uint32_t length;
	struct span bytes;

	if (span_u32(in, &length) < 0 || span_sub(in, length, &bytes) < 0)
		return NULL;
	return xstrndup((const char *)bytes.at, strnlen((const char *)bytes.at, bytes.left));
}

static int read_string(struct span in, char **to)
{
	char *text = take_string(&in);

	if (!text)
		return -EBADMSG;
	free(*to);
	*to = text;
	return 0;
}

static int read_hostname(struct perf_file *f, struct span in)
{
	return read_string(in, &f->machine.hostname);
}

static int read_release(struct perf_file *f, struct span in)
{
	return read_string(in, &f->machine.release);
}

static int read_cpu(struct perf_file *f, struct span in)
{
	return read_string(in, &f->machine.cpu);
}

static int read_cpu_id(struct perf_file *f, struct span in)
{
	return read_string(in, &f->machine.cpu_id);
}

static int read_cpus(struct perf_file *f, struct span in)
{
	uint32_t configured, online;

	if (span_u32(&in, &configured) < 0 || span_u32(&in, &online) < 0)
		return -EBADMSG;
	f->machine.cpus = online;
	return 0;
}

/* The words of perf's command line. */
static int read_command(struct perf_file *f, struct span in)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	uint32_t count, i;

	if (span_u32(&in, &count) < 0)
		return -EBADMSG;
	for (i = 0; i < count; i++) {
		_cleanup_free_ char *word = take_string(&in);

		if (!word)
			return -EBADMSG;
		strbuf_addf(&line, "%s%s", i ? " " : "", word);
	}
	free(f->machine.command);
	f->machine.command = strbuf_take(&line);
	return 0;
}

/* version, clock id, the time of day, the time of that clock */
static int read_clock(struct perf_file *f, struct span in)
{
	uint32_t version, clock;

	if (span_u32(&in, &version) < 0 || span_u32(&in, &clock) < 0 || version != 1)
		return -EBADMSG;
	if (span_u64(&in, &f->machine.wall_ns) < 0)
		return -EBADMSG;
	return span_u64(&in, &f->machine.wall_clock_ns);
}

void perf_file_add_build_id(struct perf_file *f, uint16_t misc, struct span in)
{
	struct perf_file_build_id add = { .path = NULL };
	uint8_t field[BUILD_ID_FIELD];
	uint32_t pid;

	if (span_u32(&in, &pid) == 0 && span_copy(&in, field, sizeof(field)) == 0)
		add.path = span_string(&in);
	if (!add.path) {
		f->losses.bad++;
		return;
	}
	add.id.size = BUILD_ID_BYTES;
	if (misc & MISC_BUILD_ID_SIZE)
		add.id.size = (uint8_t)MIN(field[BUILD_ID_BYTES], BUILD_ID_BYTES);
	memcpy(add.id.bytes, field, add.id.size);
	array_grow(&f->build_ids, f->build_id_count + 1, &f->build_id_room);
	f->build_ids[f->build_id_count++] = add;
}

static int read_build_ids(struct perf_file *f, struct span in)
{
	struct perf_event_header header;
	struct span payload;

	while (in.left) {
		if (span_copy(&in, &header, sizeof(header)) < 0 || header.size < sizeof(header) ||
		    span_sub(&in, header.size - sizeof(header), &payload) < 0)
			return -EBADMSG;
		perf_file_add_build_id(f, header.misc, payload);
	}
	return 0;
}

/* Sets the name of the event that has the id @id. */
static void name_event(struct perf_file *f, uint64_t id, const char *name)
{
	uintptr_t index = (uintptr_t)map_get(&f->by_id, id);
	struct perf_file_event *e = index ? &f->events[index - 1] : NULL;

	if (!e || !*name)
		return;
	free(e->name);
	e->name = xstrdup(name);
}

void perf_file_name_event(struct perf_file *f, struct span in)
{
	enum { UPDATE_NAME = 2 };
	uint64_t type, id;
	const char *name;

	if (span_u64(&in, &type) < 0 || span_u64(&in, &id) < 0)
		f->losses.bad++;
	else if (type == UPDATE_NAME && (name = span_string(&in)))
		name_event(f, id, name);
}

/* The number of events and the size of their attributes; for each the attributes, the number of its
 * ids, its name and the ids. */
static int read_events(struct perf_file *f, struct span in)
{
	uint32_t count, size, ids, i;
	struct span list;
	uint64_t id;

	if (span_u32(&in, &count) < 0 || span_u32(&in, &size) < 0)
		return -EBADMSG;
	for (i = 0; i < count; i++) {
		_cleanup_free_ char *name = NULL;

		if (!span_take(&in, size) || span_u32(&in, &ids) < 0)
			return -EBADMSG;
		name = take_string(&in);
		if (!name || span_sub(&in, (size_t)ids * sizeof(id), &list) < 0)
			return -EBADMSG;
		while (span_u64(&list, &id) == 0)
			name_event(f, id, name);
		/* One event has no ids. */
		if (!ids && i < f->event_count && !f->events[i].name)
			f->events[i].name = STEAL(name);
	}
	return 0;
}

/* By number; the others are not needed. */
static int (*const features[])(struct perf_file *f, struct span in) = {
	[2] = read_build_ids, [3] = read_hostname, [4] = read_release,
	[7] = read_cpus,      [8] = read_cpu,	   [9] = read_cpu_id,
	[11] = read_command,  [12] = read_events,  [29] = read_clock,
};

void perf_file_feature(struct perf_file *f, uint64_t number, struct span bytes)
{
	if (number < ARRAY_SIZE(features) && features[number] && features[number](f, bytes) < 0)
		f->losses.bad++;
}
