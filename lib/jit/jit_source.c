/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jit/jit_source.h"

#include "base/mem.h"
#include "base/span.h"
#include "jit/internal/code_details.h"
#include "jit/internal/map_line.h"
#include "jit/jit.h"
#include "symbol/demangle.h"
#include "unwind/unwind_code.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	READ_SIZE = 256 << 10, /* at least, at once */
	NAME_MAX_BYTES = 1 << 20,
	RECORD_MAX = JIT_SIZE_MAX + NAME_MAX_BYTES, /* code, name and header of one record */
	RECORD_HEADER = 16,
	ARCH_TIMESTAMP = 1 /* flag of a jitdump: times are cycles */
};

struct format;

struct jit_source {
	int fd;
	char *name;
	const struct format *format; /* NULL until known from the first bytes */
	uint64_t offset;	     /* in the file, after what is in the buffer */
	uint64_t resume;	     /* of the file: what is before was handed over */
	uint64_t record_at;	     /* offset of the present record */
	uint64_t details_at;	     /* the same of the first one with details */
	uint8_t *buffer;
	size_t have, room;
	uint64_t last_read, last_time;
	bool cycles; /* times are CPU cycles, which cannot be converted */
	bool failed;
	uint16_t machine;	     /* that the code is for: EM_* */
	struct code_details details; /* of the next code */
};

/* A format consumes complete records of the span and leaves an incomplete one. */
struct format {
	const char *name;
	bool timed;
	int (*header)(struct jit_source *s, struct span *in, struct error *err); /* or NULL */
	int (*record)(struct jit_source *s, struct span *in, const struct jit_sink *sink,
		      struct error *err);
};

struct jit_source *jit_source_new(int fd, const char *name)
{
	struct jit_source *s = xcalloc(1, sizeof(*s));

	s->fd = fd;
	s->name = xstrdup(name);
	return s;
}

void jit_source_free(struct jit_source *s)
{
	if (!s)
		return;
	code_details_done(&s->details);
	free(s->buffer);
	free(s->name);
	(void)close(s->fd);
	free(s);
}

static int damaged(const struct jit_source *s, const char *what, struct error *err)
{
	return error_set(err, -EBADMSG, "%s: %s near offset %llu", s->name, what,
			 (unsigned long long)(s->offset - s->have));
}

/* Converts a record's time stamp. */
static uint64_t time_of(struct jit_source *s, uint64_t stamp)
{
	uint64_t time = s->cycles ? s->last_read : stamp;

	s->last_time = MAX(s->last_time, time);
	return time;
}

/* Notes that the present record has details of the code that comes next. */
static void begin_details(struct jit_source *s)
{
	if (!code_details_any(&s->details))
		s->details_at = s->record_at;
}

/* Passes code to the sink, with those details that wait for it. */
static void load(struct jit_source *s, const struct jit_sink *sink, struct jit_code *code)
{
	struct unwind_code_row *rows = code_details_fill(&s->details, s->machine, code);
	_cleanup_free_ char *readable = demangle_method(code->name);

	code->name = readable ?: code->name;
	sink->load(sink->data, code);
	free(rows);
	code_details_drop(&s->details);
}

static int dump_load(struct jit_source *s, struct span *in, uint64_t time,
		     const struct jit_sink *sink)
{
	struct jit_code code = { .from = time, .late = s->cycles };
	uint64_t vma, index;
	uint32_t pid, tid;

	if (span_u32(in, &pid) < 0 || span_u32(in, &tid) < 0 || span_u64(in, &vma) < 0 ||
	    span_u64(in, &code.address) < 0 || span_u64(in, &code.size) < 0 ||
	    span_u64(in, &index) < 0 || !(code.name = span_string(in)))
		return -EBADMSG;
	/* Writers without the code's bytes still give its size. */
	code.bytes = code.size <= in->left ? in->at : NULL;
	load(s, sink, &code);
	return 0;
}

static int dump_move(struct span *in, uint64_t time, const struct jit_sink *sink)
{
	uint32_t pid, tid;
	uint64_t vma, from, to;

	if (span_u32(in, &pid) < 0 || span_u32(in, &tid) < 0 || span_u64(in, &vma) < 0 ||
	    span_u64(in, &from) < 0 || span_u64(in, &to) < 0)
		return -EBADMSG;
	sink->move(sink->data, from, to, time);
	return 0;
}

/* Reads the lines of the next code; only those of a jitdump have a discriminator. */
static int read_lines(struct jit_source *s, struct span *in, bool is_dump)
{
	uint64_t i, count, code, address;
	uint32_t line, discriminator;
	const char *file;

	code_details_drop_lines(&s->details);
	begin_details(s);
	if (span_u64(in, &code) < 0 || span_u64(in, &count) < 0)
		return -EBADMSG;
	for (i = 0; i < count; i++) {
		if (span_u64(in, &address) < 0 || span_u32(in, &line) < 0 ||
		    (is_dump && span_u32(in, &discriminator) < 0) || !(file = span_string(in)))
			return -EBADMSG;
		code_details_line(&s->details, address, line, file);
	}
	return 0;
}

/* Reads the .eh_frame of the next code, which is followed by its index. The code has a name also if
 * this makes no sense. */
static void read_cfi(struct jit_source *s, struct span *in)
{
	uint64_t size, index, mapped;

	begin_details(s);
	if (span_u64(in, &size) == 0 && span_u64(in, &index) == 0 && span_u64(in, &mapped) == 0 &&
	    size <= in->left && index <= size)
		code_details_cfi(&s->details, span_of(in->at, (size_t)(size - index)));
}

/* Reads the calls inlined into the next code, whose address is first. */
static int read_inlined(struct jit_source *s, struct span *in)
{
	uint64_t code;

	begin_details(s);
	if (span_u64(in, &code) < 0)
		return -EBADMSG;
	code_details_inlined(&s->details, code, *in);
	return 0;
}

static int dump_unload(struct span *in, uint64_t time, const struct jit_sink *sink)
{
	uint64_t address;

	if (span_u64(in, &address) < 0)
		return -EBADMSG;
	sink->unload(sink->data, address, time);
	return 0;
}

typedef int payload_reader(struct jit_source *s, uint32_t id, struct span *in, uint64_t time,
			   const struct jit_sink *sink);

static int dump_payload(struct jit_source *s, uint32_t id, struct span *in, uint64_t time,
			const struct jit_sink *sink)
{
	switch (id) {
	case JIT_DUMP_LOAD:
		return dump_load(s, in, time, sink);
	case JIT_DUMP_MOVE:
		return dump_move(in, time, sink);
	case JIT_DUMP_DEBUG_INFO:
		return read_lines(s, in, true);
	case JIT_DUMP_UNWINDING_INFO:
		read_cfi(s, in);
		return 0;
	case JIT_DUMP_INLINED:
		return read_inlined(s, in);
	case JIT_DUMP_UNLOAD:
		return dump_unload(in, time, sink);
	default: /* nothing we need, or from a newer version */
		return 0;
	}
}

/* Reads a record's header and splits off its payload; 1, 0 if it is incomplete, or negative. */
static int take_record(struct jit_source *s, struct span *in, uint32_t *ret_id, uint64_t *ret_time,
		       struct span *ret, struct error *err)
{
	struct span at = *in;
	uint32_t size;

	if (span_u32(&at, ret_id) < 0 || span_u32(&at, &size) < 0 || span_u64(&at, ret_time) < 0)
		return 0;
	if (size < RECORD_HEADER || size > RECORD_MAX)
		return damaged(s, "record with an impossible size", err);
	if (span_sub(&at, size - RECORD_HEADER, ret) < 0)
		return 0;
	*in = at;
	return 1;
}

/* Reads a record, its payload with @read; 1, 0 if it is incomplete, or negative. */
static int read_record(struct jit_source *s, struct span *in, payload_reader *read,
		       const struct jit_sink *sink, struct error *err)
{
	struct span payload;
	uint32_t id;
	uint64_t time;
	int r = take_record(s, in, &id, &time, &payload, err);

	if (r <= 0)
		return r;
	if (read(s, id, &payload, time_of(s, time), sink) < 0)
		return damaged(s, "record too short for its fields", err);
	return 1;
}

static int dump_record(struct jit_source *s, struct span *in, const struct jit_sink *sink,
		       struct error *err)
{
	return read_record(s, in, dump_payload, sink, err);
}

static int dump_header(struct jit_source *s, struct span *in, struct error *err)
{
	struct span at = *in;
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;

	if (span_u32(&at, &magic) < 0 || span_u32(&at, &version) < 0 || span_u32(&at, &size) < 0 ||
	    span_u32(&at, &machine) < 0 || span_u32(&at, &pad) < 0 || span_u32(&at, &pid) < 0 ||
	    span_u64(&at, &time) < 0 || span_u64(&at, &flags) < 0)
		return 0;
	if (version != 1)
		return error_set(err, -ENOTSUP, "%s: jitdump of version %u, not 1", s->name,
				 version);
	if (size < 40 || size > NAME_MAX_BYTES)
		return damaged(s, "header with an impossible size", err);
	if (!span_take(in, size))
		return 0;
	s->cycles = flags & ARCH_TIMESTAMP;
	s->machine = (uint16_t)machine;
	return 1;
}

static int opagent_header(struct jit_source *s, struct span *in, struct error *err)
{
	struct span at = *in;
	uint32_t magic, version, size;

	if (span_u32(&at, &magic) < 0 || span_u32(&at, &version) < 0 || span_u32(&at, &size) < 0)
		return 0;
	if (version != 1 || size < 32 || size > NAME_MAX_BYTES)
		return error_set(err, -ENOTSUP, "%s: agent's dump of version %u, header %u",
				 s->name, version, size);
	/* Its times have seconds only: useless. */
	s->cycles = true;
	return span_take(in, size) ? 1 : 0;
}

static int opagent_load(struct jit_source *s, struct span *in, uint64_t time,
			const struct jit_sink *sink)
{
	struct jit_code code = { .from = time, .late = s->cycles };
	uint64_t where;
	uint32_t size, align;

	if (span_u64(in, &code.address) < 0 || span_u64(in, &where) < 0 ||
	    span_u32(in, &size) < 0 || span_u32(in, &align) < 0 || !(code.name = span_string(in)))
		return -EBADMSG;
	code.size = size;
	code.bytes = size <= in->left ? in->at : NULL;
	load(s, sink, &code);
	return 0;
}

static int opagent_payload(struct jit_source *s, uint32_t id, struct span *in, uint64_t time,
			   const struct jit_sink *sink)
{
	switch (id) {
	case 0:
		return opagent_load(s, in, time, sink);
	case 1:
		return dump_unload(in, time, sink);
	case 3:
		return read_lines(s, in, false);
	default:
		return 0;
	}
}

static int opagent_record(struct jit_source *s, struct span *in, const struct jit_sink *sink,
			  struct error *err)
{
	return read_record(s, in, opagent_payload, sink, err);
}

/* Reads a line of a perf map; other lines are ignored, as in perf. */
static int map_record(struct jit_source *s, struct span *in, const struct jit_sink *sink,
		      struct error *err)
{
	const uint8_t *newline = in->left ? memchr(in->at, '\n', in->left) : NULL;
	struct jit_code code = { .from = s->last_read, .late = true };
	_cleanup_free_ char *line = NULL;
	size_t length;

	if (!newline)
		return in->left > NAME_MAX_BYTES ? damaged(s, "endless line", err) : 0;
	length = (size_t)(newline - in->at);
	line = xstrndup((const char *)in->at, length);
	(void)span_take(in, length + 1);
	if (map_line_parse(line, &code))
		sink->load(sink->data, &code);
	return 1;
}

/* 0 means not known yet. */
enum { FORMAT_UNKNOWN, FORMAT_JITDUMP, FORMAT_OPAGENT, FORMAT_PERF_MAP, FORMAT_COUNT_ };
static const struct format formats[] = {
	[FORMAT_JITDUMP] = { "jitdump", true, dump_header, dump_record },
	[FORMAT_OPAGENT] = { "agent's dump", false, opagent_header, opagent_record },
	[FORMAT_PERF_MAP] = { "perf map", false, NULL, map_record },
};
static_assert(ARRAY_SIZE(formats) == FORMAT_COUNT_, "a row for each format");

/* Finds the format from the first bytes: without magic it is text. 1, 0 if too few, or negative. */
static int find_format(struct jit_source *s, struct span *in, struct error *err)
{
	struct span at = *in;
	uint32_t magic;

	if (span_u32(&at, &magic) < 0)
		return 0;
	if (magic == __builtin_bswap32(JIT_DUMP_MAGIC) ||
	    magic == __builtin_bswap32(JIT_OPAGENT_MAGIC))
		return error_set(err, -ENOTSUP,
				 "%s: written by a machine with the other byte order", s->name);
	s->format = &formats[magic == JIT_DUMP_MAGIC	  ? FORMAT_JITDUMP
			     : magic == JIT_OPAGENT_MAGIC ? FORMAT_OPAGENT
							  : FORMAT_PERF_MAP];
	return s->format->header ? s->format->header(s, in, err) : 1;
}

/* Notes that all before @in was read but for details that wait for their code: it comes soon. */
static void note_taken(struct jit_source *s, const struct span *in)
{
	s->record_at = s->offset - in->left;
	if (s->record_at - s->details_at > RECORD_MAX)
		code_details_drop(&s->details);
	s->resume = code_details_any(&s->details) ? s->details_at : s->record_at;
}

static int take_all(struct jit_source *s, const struct jit_sink *sink, struct error *err)
{
	struct span in = span_of(s->buffer, s->have);
	int r = 1;

	if (!s->format) {
		r = find_format(s, &in, err);
		if (r <= 0) {
			s->format = NULL;
			return r;
		}
		note_taken(s, &in);
	}
	while ((r = s->format->record(s, &in, sink, err)) > 0)
		note_taken(s, &in);
	if (in.left)
		memmove(s->buffer, in.at, in.left);
	s->have = in.left;
	return r;
}

int64_t jit_source_read_some(struct jit_source *s, const struct jit_sink *sink, uint64_t now,
			     uint64_t limit, struct error *err)
{
	uint64_t total = 0;
	size_t size;
	ssize_t n;

	if (s->failed)
		return error_set(err, -EBADMSG, "%s: ignored after an earlier error", s->name);
	do {
		/* A long record is read in few steps, as each looks at it from its start. */
		size = MAX((size_t)READ_SIZE, s->have);
		array_grow(&s->buffer, s->have + size, &s->room);
		n = pread(s->fd, s->buffer + s->have, size, (off_t)s->offset);
		if (n < 0)
			return error_errno(err, -errno, "%s", s->name);
		s->have += (size_t)n;
		s->offset += (uint64_t)n;
		total += (uint64_t)n;
		if (take_all(s, sink, err) < 0) {
			s->failed = true;
			return err ? err->code : -EBADMSG;
		}
	} while ((size_t)n == size && (total < limit || s->resume + total <= s->offset));
	if ((size_t)n < size)
		s->last_read = now;
	return (int64_t)total;
}

int64_t jit_source_read(struct jit_source *s, struct jit *j, uint64_t now, struct error *err)
{
	struct jit_sink sink;

	jit_sink_of(j, &sink);
	return jit_source_read_some(s, &sink, now, UINT64_MAX, err);
}

void jit_source_state(const struct jit_source *s, struct jit_source_state *ret)
{
	*ret = (struct jit_source_state){ .format = s->format ? (uint32_t)(s->format - formats) : 0,
					  .machine = s->machine,
					  .cycles = s->cycles,
					  .failed = s->failed,
					  .offset = s->resume,
					  .last_read = s->last_read,
					  .last_time = s->last_time };
}

void jit_source_resume(struct jit_source *s, const struct jit_source_state *state)
{
	code_details_drop(&s->details);
	s->format = state->format && state->format < FORMAT_COUNT_ ? &formats[state->format] : NULL;
	s->machine = state->machine;
	s->cycles = state->cycles;
	s->failed = state->failed || state->format >= FORMAT_COUNT_ || state->offset > INT64_MAX;
	s->offset = s->resume = s->record_at = state->offset;
	s->have = 0;
	s->last_read = state->last_read;
	s->last_time = state->last_time;
}

int jit_source_fd(const struct jit_source *s)
{
	return s->fd;
}

const char *jit_source_name(const struct jit_source *s)
{
	return s->name;
}

bool jit_source_grew(const struct jit_source *s)
{
	struct statx st;

	/* The first reading also notes its time, even of an empty file. The kernel knows the size
	 * of what is written here, without asking the file's server. */
	return s->failed || !s->last_read ||
	       statx(s->fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_SIZE, &st) < 0 ||
	       st.stx_size != s->resume;
}

void jit_source_again(struct jit_source *s)
{
	if (s->format == &formats[FORMAT_PERF_MAP])
		s->offset = s->resume = s->record_at = s->have = 0;
}

bool jit_source_timed(const struct jit_source *s)
{
	return s->format && s->format->timed && !s->cycles;
}

uint64_t jit_source_time(const struct jit_source *s)
{
	return s->last_time;
}
