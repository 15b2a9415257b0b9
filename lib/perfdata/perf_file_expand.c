/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records that perf record -z has compressed: one stream of zstd, cut into records. */
#include "base/mem.h"
#include "perfdata/internal/perf_file_state.h"

#include <string.h>
#include <zstd.h>

/* What a file may expand to: a few bytes must not fill the memory. */
enum { EXPAND_TIMES = 64 };
static const size_t expand_least = (size_t)64 << 20;

struct expansion {
	ZSTD_DStream *zstd;
	uint8_t *out; /* whole records, and from ->whole on the part of one */
	size_t size, room, whole;
	uint8_t *rest; /* the part of a record that the next compressed one completes */
	size_t rest_size, rest_room;
	size_t limit;
};

static void add(struct expansion *x, const void *bytes, size_t size)
{
	array_grow(&x->out, x->size + size, &x->room);
	memcpy(x->out + x->size, bytes, size);
	x->size += size;
}

/* Decompresses the bytes of a record to the end of ->rest. 0 or -EBADMSG. */
static int decompress(struct expansion *x, struct span in)
{
	ZSTD_inBuffer from = { in.at, in.left, 0 };
	size_t step = ZSTD_DStreamOutSize(), r;
	ZSTD_outBuffer to;

	do {
		array_grow(&x->rest, x->rest_size + step, &x->rest_room);
		to = (ZSTD_outBuffer){ x->rest + x->rest_size, step, 0 };
		r = ZSTD_decompressStream(x->zstd, &to, &from);
		if (ZSTD_isError(r))
			return -EBADMSG;
		x->rest_size += to.pos;
		if (x->size + x->rest_size > x->limit)
			return -EBADMSG;
	} while (from.pos < from.size || to.pos == to.size);
	return 0;
}

/* Moves the whole records of ->rest to ->out. */
static void move_whole(struct expansion *x)
{
	struct perf_event_header header;
	size_t at = 0;

	while (x->rest_size - at >= sizeof(header)) {
		memcpy(&header, x->rest + at, sizeof(header));
		if (header.size > x->rest_size - at)
			break;
		/* perf_file_next() ends at a record without a size. */
		add(x, x->rest + at, MAX(header.size, sizeof(header)));
		at += MAX(header.size, sizeof(header));
	}
	memmove(x->rest, x->rest + at, x->rest_size - at);
	x->rest_size -= at;
}

/* Cuts off the size that COMPRESSED2 begins with; what follows the bytes is padding. */
static int compressed_bytes(const struct perf_event_header *header, struct span payload,
			    struct span *ret)
{
	uint64_t size = payload.left;

	if (header->type == PERF_FILE_COMPRESSED2 && span_u64(&payload, &size) < 0)
		return -EBADMSG;
	return size > payload.left ? -EBADMSG : span_sub(&payload, (size_t)size, ret);
}

static void expand(struct perf_file *f, struct expansion *x)
{
	struct perf_event_header header;
	struct span in = f->data, payload, bytes;

	while (perf_file_next(f, &in, &header, &payload) == 0) {
		if (header.type == PERF_FILE_TRACING_DATA)
			continue;
		f->losses.unknown += header.type == PERF_FILE_AUXTRACE;
		if (header.type == PERF_FILE_AUXTRACE)
			continue; /* what follows it is no record */
		if (header.type != PERF_FILE_COMPRESSED && header.type != PERF_FILE_COMPRESSED2) {
			add(x, payload.at - sizeof(header), payload.left + sizeof(header));
			continue;
		}
		if (compressed_bytes(&header, payload, &bytes) < 0 || decompress(x, bytes) < 0) {
			f->losses.is_cut = true; /* the rest of the stream depends on it */
			return;
		}
		move_whole(x);
	}
	f->losses.is_cut |= x->rest_size > 0;
}

static bool has_compressed(struct perf_file *f)
{
	struct perf_event_header header;
	struct span in = f->data, payload;

	while (perf_file_next(f, &in, &header, &payload) == 0)
		if (header.type == PERF_FILE_COMPRESSED || header.type == PERF_FILE_COMPRESSED2)
			return true;
	return false;
}

int perf_file_expand(struct perf_file *f, struct error *err)
{
	struct expansion x = { .limit = MAX(f->data.left * EXPAND_TIMES, expand_least) };

	if (!has_compressed(f))
		return 0;
	x.zstd = ZSTD_createDStream();
	if (!x.zstd)
		return error_set(err, -ENOMEM, "%s: cannot decompress it", f->path);
	f->losses = (struct perf_file_losses){ 0 };
	expand(f, &x);
	(void)ZSTD_freeDStream(x.zstd);
	free(x.rest);
	f->expanded = x.out;
	f->data = span_of(x.out, x.size);
	return 0;
}
