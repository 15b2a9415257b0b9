/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perfdata/perf_file.h"

#include "base/mem.h"
#include "perfdata/internal/perf_file_state.h"

#include <string.h>

/* The head of a file is HEAD_SIZE bytes, that of a pipe the first PIPE_SIZE of them:
 *
 *	magic size attr_size {offset, size} of attributes, records, event types; 256 features
 */
enum { MAGIC_SIZE = 8, PIPE_SIZE = 16, HEAD_SIZE = 104, FEATURES = 256 };
/* The attributes of an event may be of any kernel; this is the first one's size. */
enum { ATTR_LEAST = PERF_ATTR_SIZE_VER0, ATTR_MOST = 4096, EVENTS_MOST = 4096, IDS_MOST = 1 << 20 };

struct section {
	uint64_t offset, size;
};

struct head {
	uint64_t size, attr_size;
	struct section attrs, data;
	uint64_t features[FEATURES / 64];
};

static bool has_magic(struct span bytes, const char *magic)
{
	return bytes.left >= MAGIC_SIZE && !memcmp(bytes.at, magic, MAGIC_SIZE);
}

bool perf_file_is(struct span bytes)
{
	return has_magic(bytes, "PERFILE2") || has_magic(bytes, "2ELIFREP") ||
	       has_magic(bytes, "PERFFILE") || has_magic(bytes, "ELIFFREP");
}

static int take_section(struct span *in, struct section *ret)
{
	return span_u64(in, &ret->offset) < 0 ? -EBADMSG : span_u64(in, &ret->size);
}

/* The bytes of @section, as far as the file has them; false if that is not all. */
static bool find_section(struct span file, const struct section *section, struct span *ret)
{
	uint64_t offset = MIN(section->offset, file.left);

	*ret = span_of(file.at + offset, MIN(section->size, file.left - offset));
	return ret->left == section->size;
}

static int read_head(struct span in, struct head *ret)
{
	struct section types;

	*ret = (struct head){ 0 };
	if (!span_take(&in, MAGIC_SIZE) || span_u64(&in, &ret->size) < 0)
		return -EBADMSG;
	if (ret->size == PIPE_SIZE)
		return 0;
	if (ret->size != HEAD_SIZE || span_u64(&in, &ret->attr_size) < 0 ||
	    take_section(&in, &ret->attrs) < 0 || take_section(&in, &ret->data) < 0 ||
	    take_section(&in, &types) < 0)
		return -EBADMSG;
	return span_copy(&in, ret->features, sizeof(ret->features));
}

int perf_file_add_event(struct perf_file *f, struct span bytes, struct span ids)
{
	struct perf_file_event add = { .id_count = ids.left / sizeof(uint64_t) };
	size_t i;

	if (bytes.left < ATTR_LEAST || bytes.left > ATTR_MOST || f->event_count == EVENTS_MOST ||
	    add.id_count > IDS_MOST - f->id_count)
		return -EBADMSG;
	f->id_count += add.id_count;
	memcpy(&add.attr, bytes.at, MIN(bytes.left, sizeof(add.attr)));
	add.ids = xmemdup(ids.at, add.id_count * sizeof(uint64_t));
	array_grow(&f->events, f->event_count + 1, &f->event_room);
	f->events[f->event_count++] = add;
	for (i = 0; i < add.id_count; i++)
		(void)map_set(&f->by_id, add.ids[i], (void *)(uintptr_t)f->event_count);
	return 0;
}

static int read_attrs(struct perf_file *f, struct span file, const struct head *head)
{
	struct section where;
	struct span attrs, attr, ids, in;

	if (!find_section(file, &head->attrs, &attrs) || head->attr_size < sizeof(where))
		return -EBADMSG;
	while (attrs.left) {
		if (span_sub(&attrs, head->attr_size, &in) < 0 ||
		    span_sub(&in, head->attr_size - sizeof(where), &attr) < 0 ||
		    take_section(&in, &where) < 0 || !find_section(file, &where, &ids) ||
		    perf_file_add_event(f, attr, ids) < 0)
			return -EBADMSG;
	}
	return 0;
}

/* The sections of the features follow the records; first their places, in the order of the bits. */
static void read_features(struct perf_file *f, struct span file, const struct head *head)
{
	struct section table = { head->data.offset + head->data.size, UINT64_MAX }, where;
	struct span in, bytes;
	uint64_t i;

	(void)find_section(file, &table, &in);
	for (i = 0; i < FEATURES; i++) {
		if (!(head->features[i / 64] >> i % 64 & 1))
			continue;
		if (take_section(&in, &where) < 0 || !find_section(file, &where, &bytes)) {
			f->losses.is_cut = true;
			return;
		}
		perf_file_feature(f, i, bytes);
	}
}

int perf_file_next(struct perf_file *f, struct span *in, struct perf_event_header *ret,
		   struct span *ret_payload)
{
	uint64_t after = 0;

	if (!in->left)
		return -ENODATA;
	if (span_copy(in, ret, sizeof(*ret)) < 0 || ret->size < sizeof(*ret) ||
	    span_sub(in, ret->size - sizeof(*ret), ret_payload) < 0) {
		f->losses.is_cut = true;
		return -ENODATA;
	}
	if (ret->type == PERF_FILE_AUXTRACE && ret_payload->left >= sizeof(after))
		memcpy(&after, ret_payload->at, sizeof(after));
	if (ret->type == PERF_FILE_TRACING_DATA && ret_payload->left >= sizeof(uint32_t))
		after = ((uint64_t)get_le32(ret_payload->at) + 7) & ~7ULL;
	if (after > in->left || !span_take(in, after)) {
		f->losses.is_cut = true;
		return -ENODATA;
	}
	return 0;
}

/* Reads a record that perf wrote itself. Those not named have nothing that is needed. */
static void read_own(struct perf_file *f, const struct perf_event_header *header,
		     struct span payload)
{
	struct span attr;
	uint32_t size;
	uint64_t number;

	switch (header->type) {
	case PERF_FILE_ATTR:
		/* Its own size is the second word of the attributes. */
		size = payload.left >= ATTR_LEAST ? get_le32(payload.at + 4) : 0;
		if (span_sub(&payload, size ?: ATTR_LEAST, &attr) < 0 ||
		    perf_file_add_event(f, attr, payload) < 0)
			f->losses.bad++;
		break;
	case PERF_FILE_BUILD_ID:
		perf_file_add_build_id(f, header->misc, payload);
		break;
	case PERF_FILE_FEATURE:
		if (span_u64(&payload, &number) == 0)
			perf_file_feature(f, number, payload);
		break;
	case PERF_FILE_EVENT_UPDATE:
		perf_file_name_event(f, payload);
		break;
	case PERF_FILE_AUXTRACE:
	case PERF_FILE_STAT:
		f->losses.unknown++;
		break;
	default:
		f->losses.unknown += header->type > PERF_FILE_OWN_LAST;
		break;
	}
}

/* What becomes of a record of the kernel. */
enum use { USE_UNKNOWN, USE_NONE, USE_READ };

static const enum use uses[] = {
	[PERF_RECORD_MMAP] = USE_READ,	       [PERF_RECORD_LOST] = USE_READ,
	[PERF_RECORD_COMM] = USE_READ,	       [PERF_RECORD_EXIT] = USE_NONE,
	[PERF_RECORD_THROTTLE] = USE_READ,     [PERF_RECORD_UNTHROTTLE] = USE_NONE,
	[PERF_RECORD_FORK] = USE_READ,	       [PERF_RECORD_READ] = USE_NONE,
	[PERF_RECORD_SAMPLE] = USE_READ,       [PERF_RECORD_MMAP2] = USE_READ,
	[PERF_RECORD_ITRACE_START] = USE_NONE, [PERF_RECORD_LOST_SAMPLES] = USE_READ,
	[PERF_RECORD_SWITCH] = USE_NONE,       [PERF_RECORD_SWITCH_CPU_WIDE] = USE_NONE,
	[PERF_RECORD_NAMESPACES] = USE_NONE,   [PERF_RECORD_KSYMBOL] = USE_READ,
	[PERF_RECORD_BPF_EVENT] = USE_NONE,    [PERF_RECORD_CGROUP] = USE_NONE,
	[PERF_RECORD_TEXT_POKE] = USE_NONE,
};

/* The time of a record; that of the one before, @last_ns, if it has none. */
static uint64_t time_of(struct perf_file *f, const struct perf_event_header *header,
			struct span payload, uint64_t last_ns)
{
	struct perf_file_record record = { .type = header->type, .payload = payload };
	struct perf_file_sample sample = { 0 };
	const struct perf_event_attr *attr;

	if (perf_file_event_of(f, header->type, payload, &record.event) < 0)
		return last_ns;
	attr = &f->events[record.event].attr;
	if (!(attr->sample_type & PERF_SAMPLE_TIME))
		return last_ns;
	if (header->type == PERF_RECORD_SAMPLE)
		return perf_file_sample(f, &record, &sample) == 0 ? sample.time_ns : last_ns;
	if (!attr->sample_id_all)
		return last_ns;
	record.trailer = perf_file_trailer(f, &record, &record.payload);
	return perf_file_trailer_time(f, record.event, record.trailer);
}

/* Lists the records of the kernel in order of time. */
static void list_records(struct perf_file *f)
{
	struct perf_event_header header;
	struct span in = f->data, payload;
	uint64_t last_ns = 0;

	while (perf_file_next(f, &in, &header, &payload) == 0) {
		if (header.type >= PERF_FILE_ATTR) {
			read_own(f, &header, payload);
			continue;
		}
		if (header.type >= ARRAY_SIZE(uses) || uses[header.type] == USE_UNKNOWN) {
			f->losses.unknown++;
			continue;
		}
		if (uses[header.type] == USE_NONE || !f->event_count)
			continue;
		last_ns = time_of(f, &header, payload, last_ns);
		array_grow(&f->places, f->place_count + 1, &f->place_room);
		f->places[f->place_count++] =
			(struct radix_entry){ last_ns, (uint64_t)(payload.at - f->data.at) -
							       sizeof(header) };
	}
	array_grow(&f->places, f->place_count * 2 + 1, &f->place_room);
	radix_sort(f->places, f->places + f->place_count, f->place_count);
}

/* Refuses what only looks like a perf.data of this machine. */
static int check_kind(struct span bytes, const char *path, struct error *err)
{
	if (has_magic(bytes, "2ELIFREP") || has_magic(bytes, "ELIFFREP"))
		return error_set(err, -ENOTSUP,
				 "%s: was recorded on a machine with another byte order, which is "
				 "not supported",
				 path);
	if (has_magic(bytes, "PERFFILE"))
		return error_set(
			err, -ENOTSUP,
			"%s: is a perf.data of Linux before 2.6.37, which is not supported", path);
	return 0;
}

int perf_file_open(struct span bytes, const char *path, struct perf_file **ret, struct error *err)
{
	_cleanup_(perf_file_closep) struct perf_file *f = xcalloc(1, sizeof(*f));
	struct head head;
	int r = check_kind(bytes, path, err);

	f->path = path;
	if (r < 0)
		return r;
	if (!has_magic(bytes, "PERFILE2") || read_head(bytes, &head) < 0)
		return error_set(err, -EBADMSG, "%s: is not a perf.data, or cut short", path);
	if (head.size == PIPE_SIZE) {
		f->data = span_of(bytes.at + PIPE_SIZE, bytes.left - PIPE_SIZE);
	} else if (read_attrs(f, bytes, &head) < 0) {
		return error_set(err, -EBADMSG, "%s: the events in it are malformed", path);
	} else {
		f->losses.is_cut = !find_section(bytes, &head.data, &f->data);
		/* An interrupted perf record leaves the size of the records unset. */
		if (!head.data.size && head.data.offset < bytes.left)
			f->data =
				span_of(bytes.at + head.data.offset, bytes.left - head.data.offset);
	}
	r = perf_file_expand(f, err);
	if (r < 0)
		return r;
	if (head.size != PIPE_SIZE && head.data.size)
		read_features(f, bytes, &head);
	list_records(f);
	if (!f->event_count)
		return error_set(err, -EBADMSG, "%s: names no event", path);
	*ret = STEAL(f);
	return 0;
}

void perf_file_close(struct perf_file *f)
{
	struct perf_file_machine *m;
	size_t i;

	if (!f)
		return;
	for (i = 0; i < f->event_count; i++) {
		free(f->events[i].name);
		free(f->events[i].ids);
	}
	m = &f->machine;
	free(m->hostname);
	free(m->release);
	free(m->cpu);
	free(m->cpu_id);
	free(m->command);
	free(f->events);
	free(f->build_ids);
	free(f->places);
	free(f->expanded);
	map_done(&f->by_id);
	free(f);
}

const struct perf_file_event *perf_file_events(const struct perf_file *f, size_t *ret_count)
{
	*ret_count = f->event_count;
	return f->events;
}

const struct perf_file_machine *perf_file_machine(const struct perf_file *f)
{
	return &f->machine;
}

const struct perf_file_build_id *perf_file_build_ids(const struct perf_file *f, size_t *ret_count)
{
	*ret_count = f->build_id_count;
	return f->build_ids;
}

const struct perf_file_losses *perf_file_losses(const struct perf_file *f)
{
	return &f->losses;
}

bool perf_file_record(const struct perf_file *f, size_t i, struct perf_file_record *ret)
{
	struct perf_event_header header;
	struct span in;

	if (i >= f->place_count)
		return false;
	in = span_of(f->data.at + f->places[i].value, f->data.left - f->places[i].value);
	(void)span_copy(&in, &header, sizeof(header)); /* it was read before */
	*ret = (struct perf_file_record){ .type = header.type,
					  .misc = header.misc,
					  .time_ns = f->places[i].key };
	(void)span_sub(&in, header.size - sizeof(header), &ret->payload);
	ret->is_orphan = perf_file_event_of(f, ret->type, ret->payload, &ret->event) < 0;
	if (ret->type != PERF_RECORD_SAMPLE)
		ret->trailer = perf_file_trailer(f, ret, &ret->payload);
	return true;
}
