/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of samples, and the trailers of other records, as the attributes of their event have
 * them. */
#include "perfdata/internal/perf_file_state.h"

static const struct perf_event_attr *attr_of(const struct perf_file *f, size_t event)
{
	return &f->events[event].attr;
}

/* How many of @fields the samples of @attr have. */
static size_t count_fields(const struct perf_event_attr *attr, uint64_t fields)
{
	return (size_t)__builtin_popcountll(attr->sample_type & fields);
}

/* The word with the id of a record, from the front of a sample or from the end of another one;
 * false if it has none. All events of a file have it at the same place. */
static bool id_word(const struct perf_event_attr *attr, bool is_sample, size_t *ret)
{
	bool is_first = attr->sample_type & PERF_SAMPLE_IDENTIFIER;

	if (!is_first && !(attr->sample_type & PERF_SAMPLE_ID))
		return false;
	if (is_first)
		*ret = 0;
	else if (is_sample)
		*ret = count_fields(attr, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						  PERF_SAMPLE_ADDR);
	else
		*ret = count_fields(attr, PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID);
	return is_sample || attr->sample_id_all;
}

int perf_file_event_of(const struct perf_file *f, uint32_t type, struct span payload, size_t *ret)
{
	bool is_sample = type == PERF_RECORD_SAMPLE;
	size_t word, words = payload.left / sizeof(uint64_t);
	uintptr_t index;
	uint64_t id;

	*ret = 0;
	if (f->event_count == 1 || !id_word(attr_of(f, 0), is_sample, &word))
		return f->event_count == 1 || !is_sample ? 0 : -EBADMSG;
	if (word >= words)
		return -EBADMSG;
	word = is_sample ? word : words - 1 - word;
	memcpy(&id, payload.at + word * sizeof(id), sizeof(id));
	index = (uintptr_t)map_get(&f->by_id, id);
	if (index)
		*ret = index - 1;
	/* Records that perf made up belong to no event. */
	return index || !is_sample ? 0 : -EBADMSG;
}

/* Where the trailer of a KSYMBOL record begins: after its name, padded. If several events get the
 * record, what follows the trailer is left from older records (perf_record.c). */
static size_t after_name(struct span payload)
{
	enum { NAME_AT = 16, PADDED = 8 };
	size_t name;

	if (!span_take(&payload, NAME_AT))
		return SIZE_MAX;
	name = strnlen((const char *)payload.at, payload.left) + 1;
	return NAME_AT + (name + PADDED - 1) / PADDED * PADDED;
}

struct span perf_file_trailer(const struct perf_file *f, const struct perf_file_record *record,
			      struct span *payload)
{
	const struct perf_event_attr *attr = attr_of(f, record->event);
	size_t size = count_fields(attr, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
						 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
						 PERF_SAMPLE_IDENTIFIER) *
		      sizeof(uint64_t);
	size_t at;

	if (!attr->sample_id_all || size > payload->left)
		return span_of(payload->at + payload->left, 0);
	at = payload->left - size;
	if (record->type == PERF_RECORD_KSYMBOL)
		at = MIN(at, after_name(*payload));
	payload->left = at;
	return span_of(payload->at + at, size);
}

uint64_t perf_file_trailer_time(const struct perf_file *f, size_t event, struct span trailer)
{
	const struct perf_event_attr *attr = attr_of(f, event);
	uint64_t time_ns = 0;

	if (attr->sample_type & PERF_SAMPLE_TIME &&
	    span_take(&trailer, count_fields(attr, PERF_SAMPLE_TID) * sizeof(time_ns)))
		(void)span_u64(&trailer, &time_ns);
	return time_ns;
}

/* --- samples --- */

static int skip_words(struct span *in, uint64_t count)
{
	return count <= in->left / sizeof(uint64_t) && span_take(in, count * sizeof(uint64_t))
		       ? 0
		       : -EBADMSG;
}

static int take_ip(const struct perf_event_attr *attr _unused_, struct span *in,
		   struct perf_file_sample *s)
{
	return span_u64(in, &s->ip);
}

static int take_ids(const struct perf_event_attr *attr _unused_, struct span *in,
		    struct perf_file_sample *s)
{
	return span_u32(in, &s->pid) < 0 ? -EBADMSG : span_u32(in, &s->tid);
}

static int take_time(const struct perf_event_attr *attr _unused_, struct span *in,
		     struct perf_file_sample *s)
{
	return span_u64(in, &s->time_ns);
}

static int take_cpu(const struct perf_event_attr *attr _unused_, struct span *in,
		    struct perf_file_sample *s)
{
	uint32_t reserved;

	return span_u32(in, &s->cpu) < 0 ? -EBADMSG : span_u32(in, &reserved);
}

static int take_period(const struct perf_event_attr *attr _unused_, struct span *in,
		       struct perf_file_sample *s)
{
	return span_u64(in, &s->period);
}

static int skip_word(const struct perf_event_attr *attr _unused_, struct span *in,
		     struct perf_file_sample *s _unused_)
{
	return skip_words(in, 1);
}

/* Skips the value of the counter, or those of its group. */
static int skip_read(const struct perf_event_attr *attr, struct span *in,
		     struct perf_file_sample *s _unused_)
{
	const uint64_t each = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	const uint64_t once = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	uint64_t count = 1, words = (uint64_t)__builtin_popcountll(attr->read_format & each) + 1;

	if (attr->read_format & PERF_FORMAT_GROUP && span_u64(in, &count) < 0)
		return -EBADMSG;
	if (count > in->left)
		return -EBADMSG;
	return skip_words(in,
			  count * words + (uint64_t)__builtin_popcountll(attr->read_format & once));
}

static int take_chain(const struct perf_event_attr *attr, struct span *in,
		      struct perf_file_sample *s)
{
	uint64_t count;

	s->has_chain = true;
	/* The rest is in a copy of the stack, or in the branches of the last calls. */
	s->is_kernel_only = attr->exclude_callchain_user;
	if (span_u64(in, &count) < 0 || count > in->left / sizeof(count))
		return -EBADMSG;
	return span_sub(in, count * sizeof(count), &s->chain);
}

/* In the order in which samples have them. None after the chain is needed. */
static const struct {
	uint64_t type;
	int (*take)(const struct perf_event_attr *attr, struct span *in,
		    struct perf_file_sample *s);
} fields[] = {
	{ PERF_SAMPLE_IDENTIFIER, skip_word }, { PERF_SAMPLE_IP, take_ip },
	{ PERF_SAMPLE_TID, take_ids },	       { PERF_SAMPLE_TIME, take_time },
	{ PERF_SAMPLE_ADDR, skip_word },       { PERF_SAMPLE_ID, skip_word },
	{ PERF_SAMPLE_STREAM_ID, skip_word },  { PERF_SAMPLE_CPU, take_cpu },
	{ PERF_SAMPLE_PERIOD, take_period },   { PERF_SAMPLE_READ, skip_read },
	{ PERF_SAMPLE_CALLCHAIN, take_chain },
};

int perf_file_sample(const struct perf_file *f, const struct perf_file_record *record,
		     struct perf_file_sample *ret)
{
	const struct perf_event_attr *attr = attr_of(f, record->event);
	struct perf_file_sample s = { .period = attr->freq ? 0 : attr->sample_period };
	struct span in = record->payload;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (attr->sample_type & fields[i].type && fields[i].take(attr, &in, &s) < 0)
			return -EBADMSG;
	*ret = s;
	return 0;
}

/* Reads device, inode and generation, or a build-id instead of them; both have as many bytes. */
static int take_file(struct span *in, bool is_build_id, struct perf_file_map *map)
{
	enum { BUILD_ID_SIZE = 20, BUILD_ID_AT = 4 };
	uint32_t major, minor;
	struct span file;

	if (span_sub(in, 24, &file) < 0)
		return -EBADMSG;
	if (is_build_id) {
		map->id.size = MIN(*file.at, BUILD_ID_SIZE);
		memcpy(map->id.bytes, file.at + BUILD_ID_AT, map->id.size);
		return 0;
	}
	if (span_u32(&file, &major) < 0 || span_u32(&file, &minor) < 0 ||
	    span_u64(&file, &map->file.inode) < 0 || span_u64(&file, &map->file.generation) < 0)
		return -EBADMSG;
	map->file.device = (uint64_t)major << 32 | minor;
	return 0;
}

int perf_file_map(const struct perf_file_record *record, struct perf_file_map *ret)
{
	struct perf_file_map map = { 0 };
	struct span in = record->payload;
	uint64_t length;
	uint32_t tid;

	if (span_u32(&in, &map.pid) < 0 || span_u32(&in, &tid) < 0 ||
	    span_u64(&in, &map.start) < 0 || span_u64(&in, &length) < 0 ||
	    span_u64(&in, &map.offset) < 0)
		return -EBADMSG;
	/* Protection and flags follow the file. */
	if (record->type == PERF_RECORD_MMAP2 &&
	    (take_file(&in, record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID, &map) < 0 ||
	     !span_take(&in, 2 * sizeof(uint32_t))))
		return -EBADMSG;
	map.path = span_string(&in);
	if (!map.path || __builtin_add_overflow(map.start, length, &map.end))
		return -EBADMSG;
	*ret = map;
	return 0;
}
