/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/perf_record.h"

#include "base/macro.h"

#include <string.h>

/* The end of every record but a sample (sample_id_all). */
enum { TRAILER_SIZE = 24 };

static int decode_ids(struct span *in, uint32_t *pid, uint32_t *tid)
{
	return span_u32(in, pid) < 0 || span_u32(in, tid) < 0 ? -EBADMSG : 0;
}

static int decode_sample(struct span in, struct perf_record *r)
{
	if (span_u64(&in, &r->id) < 0 || span_u64(&in, &r->ip) < 0 ||
	    decode_ids(&in, &r->pid, &r->tid) < 0)
		return -EBADMSG;
	if (span_u64(&in, &r->time_ns) < 0)
		return -EBADMSG;
	r->more = in;
	r->cgroup = 0;
	if (in.left >= sizeof(r->cgroup))
		memcpy(&r->cgroup, in.at + in.left - sizeof(r->cgroup), sizeof(r->cgroup));
	return 0;
}

int perf_record_callchain(struct span *more, struct span *ret)
{
	struct span in = *more;
	uint64_t count;

	if (span_u64(&in, &count) < 0 || count > in.left / sizeof(uint64_t) ||
	    span_sub(&in, count * sizeof(uint64_t), ret) < 0)
		return -EBADMSG;
	*more = in;
	return 0;
}

static int decode_map(struct span in, struct perf_record *r)
{
	uint32_t major, minor, protection, flags;
	uint64_t length;

	if (decode_ids(&in, &r->pid, &r->tid) < 0 || span_u64(&in, &r->map.start) < 0 ||
	    span_u64(&in, &length) < 0 || span_u64(&in, &r->map.offset) < 0 ||
	    span_u32(&in, &major) < 0 || span_u32(&in, &minor) < 0 ||
	    span_u64(&in, &r->map.file.inode) < 0 || span_u64(&in, &r->map.file.generation) < 0 ||
	    span_u32(&in, &protection) < 0 || span_u32(&in, &flags) < 0)
		return -EBADMSG;
	r->map.path = span_string(&in);
	if (!r->map.path || __builtin_add_overflow(r->map.start, length, &r->map.end))
		return -EBADMSG;
	r->map.file.device = (uint64_t)major << 32 | minor;
	/* A build-id in place of device and inode: we never ask for it. */
	if (r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		r->map.file = (struct file_identity){ 0 };
	return 0;
}

static int decode_comm(struct span in, struct perf_record *r)
{
	if (decode_ids(&in, &r->pid, &r->tid) < 0)
		return -EBADMSG;
	r->comm.name = span_string(&in);
	r->comm.exec = r->misc & PERF_RECORD_MISC_COMM_EXEC;
	return r->comm.name ? 0 : -EBADMSG;
}

/* pid, ppid, tid, ptid, time */
static int decode_task(struct span in, struct perf_record *r)
{
	if (decode_ids(&in, &r->pid, &r->task.parent_pid) < 0)
		return -EBADMSG;
	return decode_ids(&in, &r->tid, &r->task.parent_tid);
}

/* id, lost */
static int decode_lost(struct span in, struct perf_record *r)
{
	uint64_t id;

	return span_u64(&in, &id) < 0 ? -EBADMSG : span_u64(&in, &r->lost);
}

static int decode_lost_samples(struct span in, struct perf_record *r)
{
	return span_u64(&in, &r->lost);
}

static int decode_cgroup(struct span in, struct perf_record *r)
{
	if (span_u64(&in, &r->new_cgroup.id) < 0)
		return -EBADMSG;
	r->new_cgroup.path = span_string(&in);
	return r->new_cgroup.path ? 0 : -EBADMSG;
}

static int decode_ksymbol(struct span in, struct perf_record *r)
{
	uint32_t length, type_flags;

	if (span_u64(&in, &r->code.start) < 0 || span_u32(&in, &length) < 0 ||
	    span_u32(&in, &type_flags) < 0)
		return -EBADMSG;
	r->code.length = length;
	r->code.type = (uint16_t)type_flags;
	r->code.flags = (uint16_t)(type_flags >> 16);
	r->code.name = span_string(&in);
	return r->code.name ? 0 : -EBADMSG;
}

/* Decoders of the bytes between header and trailer. */
static int (*const decoders[])(struct span in, struct perf_record *r) = {
	[PERF_RECORD_MMAP2] = decode_map,     [PERF_RECORD_COMM] = decode_comm,
	[PERF_RECORD_FORK] = decode_task,     [PERF_RECORD_EXIT] = decode_task,
	[PERF_RECORD_LOST] = decode_lost,     [PERF_RECORD_LOST_SAMPLES] = decode_lost_samples,
	[PERF_RECORD_CGROUP] = decode_cgroup, [PERF_RECORD_KSYMBOL] = decode_ksymbol,
};

/* Where the trailer of @in, a record without its header, begins: TRAILER_SIZE before its end. A
 * KSYMBOL record is the exception: when several events get it, the kernel adds a trailer's size to
 * the record's size for each earlier one (perf_event_ksymbol_output() in kernel/events/core.c). Its
 * trailer is right after the name, padded to 8 bytes; leftovers of older records follow it. */
static size_t trailer_at(uint32_t type, const struct span *in)
{
	enum { NAME_AT = 16, PADDED = 8 };
	size_t at = in->left - TRAILER_SIZE, name;

	if (type != PERF_RECORD_KSYMBOL || at < NAME_AT)
		return at;
	name = strnlen((const char *)in->at + NAME_AT, at - NAME_AT) + 1;
	return MIN(at, NAME_AT + (name + PADDED - 1) / PADDED * PADDED);
}

int perf_record_decode(struct span in, struct perf_record *ret)
{
	struct perf_event_header header;
	struct span trailer;
	size_t at;

	if (span_copy(&in, &header, sizeof(header)) < 0)
		return -EBADMSG;
	ret->type = header.type;
	ret->misc = header.misc;
	if (_likely_(header.type == PERF_RECORD_SAMPLE))
		return decode_sample(in, ret);
	if (in.left < TRAILER_SIZE)
		return -EBADMSG;
	at = trailer_at(header.type, &in);
	trailer = span_of(in.at + at, TRAILER_SIZE);
	in.left = at;
	if (decode_ids(&trailer, &ret->pid, &ret->tid) < 0 ||
	    span_u64(&trailer, &ret->time_ns) < 0 || span_u64(&trailer, &ret->id) < 0)
		return -EBADMSG;
	if (header.type >= ARRAY_SIZE(decoders) || !decoders[header.type])
		return 0;
	return decoders[header.type](in, ret);
}
