/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stream/stream_file.h"

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/span.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "identity/cookie.h"
#include "stats/counters.h"
#include "stream/internal/cookie_chunk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * head:  "OPSTREAM"  u32 byte order mark 0x01020304  u32 version
 * chunk: u32 kind  u32 size  size bytes, a multiple of 8
 */
static const char magic[8] = "OPSTREAM";
enum { ORDER_MARK = 0x01020304, VERSION = 1, CHUNK_MAX = 64 << 20, BOOT_ID_MAX = 64 };

enum chunk_kind {
	CHUNK_EVENTS = 1, /* one event after the other, first chunk of the file */
	CHUNK_BOOT = 2,	  /* boot id as text */
	CHUNK_COOKIE = 3, /* one image */
	CHUNK_WORDS = 4,  /* the event buffer */
	CHUNK_STATS = 5	  /* the driver's totals, "name value" lines */
};

enum event_flag { EVENT_KERNEL = 1, EVENT_USER = 2, EVENT_IS_TIMER = 4 };

struct stream_file {
	FILE *file;
	char *path;
	const struct cookie_table *cookies;
	struct map written; /* cookie: what was known, as written_state() */
	int failed;	    /* -errno of the first write that failed */
};

struct stream_file_reader {
	FILE *file;
	char *path;
	struct event events[EVENT_MAX];
	size_t event_count;
	char boot_id[BOOT_ID_MAX];
	struct driver_stats stats;
	uint64_t *chunk; /* payload of the last chunk, aligned for its words */
	size_t room;	 /* in words */
};

/* --- writing --- */

static int write_chunk(struct stream_file *t, enum chunk_kind kind, const void *data, size_t size)
{
	uint32_t head[2] = { kind, (uint32_t)size };

	if (t->failed < 0)
		return t->failed;
	if (fwrite(head, sizeof(head), 1, t->file) != 1 ||
	    (size && fwrite(data, size, 1, t->file) != 1))
		t->failed = errno ? -errno : -EIO;
	return t->failed;
}

static int write_events(struct stream_file *t, const struct event *events, size_t count)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct event *e = &events[i];

		chunk_put_u64(&b, e->count);
		chunk_put_u64(&b, e->rate_hz);
		chunk_put_u64(&b, e->perf_config);
		chunk_put_u32(&b, e->code);
		chunk_put_u32(&b, e->unit_mask);
		chunk_put_u32(&b, e->perf_type);
		chunk_put_u32(&b, (e->kernel ? EVENT_KERNEL : 0) | (e->user ? EVENT_USER : 0) |
					  (e->is_timer ? EVENT_IS_TIMER : 0));
		chunk_put_text(&b, e->name);
	}
	return write_chunk(t, CHUNK_EVENTS, strbuf_text(&b), b.length);
}

static int write_text(struct stream_file *t, enum chunk_kind kind, const char *text)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	chunk_put_text(&b, text);
	return write_chunk(t, kind, strbuf_text(&b), b.length);
}

static int write_cookie(struct stream_file *t, const struct cookie_image *image)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	cookie_chunk_add(&b, image);
	return write_chunk(t, CHUNK_COOKIE, strbuf_text(&b), b.length);
}

/* How much is known of an image. It is identified as soon as somebody looks for its version. */
static uintptr_t written_state(const struct cookie_image *image)
{
	return 1 + image->identified + (image->identified && image->version.size);
}

/* Writes what has changed in the cookie table since the last words. */
static int write_cookies(struct stream_file *t)
{
	size_t count = cookie_count(t->cookies), i;
	int r = 0;

	for (i = 0; i < count && r == 0; i++) {
		const struct cookie_image *image = cookie_at(t->cookies, i);
		uintptr_t state = written_state(image);

		if ((uintptr_t)map_get(&t->written, image->cookie) >= state)
			continue;
		r = write_cookie(t, image);
		(void)map_set(&t->written, image->cookie, (void *)state);
	}
	return r;
}

static char *running_boot_id(void)
{
	char *text = NULL;

	if (path_read(NULL, "/proc/sys/kernel/random/boot_id", &text, NULL) < 0)
		return xstrdup("");
	text[strcspn(text, "\n")] = '\0';
	return text;
}

int stream_file_create(const char *path, const struct event *events, size_t event_count,
		       const struct cookie_table *cookies, struct stream_file **ret,
		       struct error *err)
{
	_cleanup_free_ char *boot_id = running_boot_id();
	uint32_t head[2] = { ORDER_MARK, VERSION };
	struct stream_file *t = xcalloc(1, sizeof(*t));

	t->path = xstrdup(path);
	t->cookies = cookies;
	t->file = fopen(path, "we");
	if (!t->file || fwrite(magic, sizeof(magic), 1, t->file) != 1 ||
	    fwrite(head, sizeof(head), 1, t->file) != 1)
		t->failed = -errno;
	if (t->failed == 0 && write_events(t, events, event_count) == 0)
		(void)write_text(t, CHUNK_BOOT, boot_id); /* a failure stays in t->failed */
	if (t->failed < 0) {
		int r = error_errno(err, t->failed, "cannot write %s", path);

		(void)stream_file_close(t, NULL, NULL);
		return r;
	}
	*ret = t;
	return 0;
}

int stream_file_words(const uint64_t *words, size_t count, void *data)
{
	enum { MOST = CHUNK_MAX / sizeof(uint64_t) };
	struct stream_file *t = data;
	int r = write_cookies(t);
	size_t n;

	for (; r == 0 && count; words += n, count -= n) {
		n = MIN(count, (size_t)MOST);
		r = write_chunk(t, CHUNK_WORDS, words, n * sizeof(*words));
	}
	return r;
}

static int write_stats(struct stream_file *t, const struct driver_stats *stats)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	const struct counter *c;

	for (size_t i = 0; (c = counter_at(i)); i++)
		if (c->source == COUNTER_OF_DRIVER)
			strbuf_addf(&b, "%s %" PRIu64 "\n", c->name, counter_value(c, stats, NULL));
	return write_text(t, CHUNK_STATS, strbuf_text(&b));
}

int stream_file_close(struct stream_file *t, const struct driver_stats *stats, struct error *err)
{
	int r;

	if (!t)
		return 0;
	if (stats)
		(void)write_stats(t, stats); /* a failure stays in t->failed */
	r = t->failed;
	if (t->file && fclose(t->file) != 0 && r == 0)
		r = -errno;
	if (r < 0)
		(void)error_errno(err, r, "cannot write %s", t->path);
	map_done(&t->written);
	free(t->path);
	free(t);
	return r;
}

/* --- reading --- */

static int read_event(struct span *in, struct event *ret)
{
	struct event e = { 0 };
	const char *name;
	uint32_t flags;

	if (span_u64(in, &e.count) < 0 || span_u64(in, &e.rate_hz) < 0 ||
	    span_u64(in, &e.perf_config) < 0 || span_u32(in, &e.code) < 0 ||
	    span_u32(in, &e.unit_mask) < 0 || span_u32(in, &e.perf_type) < 0 ||
	    span_u32(in, &flags) < 0)
		return -EBADMSG;
	name = span_string(in);
	if (!name || !*name || strlen(name) >= sizeof(e.name) || strchr(name, '/'))
		return -EBADMSG;
	chunk_skip_padding(in);
	memcpy(e.name, name, strlen(name));
	e.kernel = flags & EVENT_KERNEL;
	e.user = flags & EVENT_USER;
	e.is_timer = flags & EVENT_IS_TIMER;
	*ret = e;
	return 0;
}

/* There are none where only an extended feature's samples were taken. */
static int read_events(struct stream_file_reader *r, struct span in)
{
	r->event_count = 0;
	while (in.left) {
		if (r->event_count == EVENT_MAX || read_event(&in, &r->events[r->event_count]) < 0)
			return -EBADMSG;
		r->event_count++;
	}
	return 0;
}

static int read_boot(struct stream_file_reader *r, struct span in)
{
	const char *text = span_string(&in);

	if (!text || strlen(text) >= sizeof(r->boot_id))
		return -EBADMSG;
	(void)snprintf(r->boot_id, sizeof(r->boot_id), "%s", text);
	return 0;
}

/* Reads one "name value" line; ignores a name of another version. */
static int read_stat(const char *line, void *data)
{
	struct driver_stats *stats = data;
	_cleanup_free_ char *name = xstrndup(line, strcspn(line, " "));
	const char *number = line + strlen(name);
	const struct counter *c = counter_find(name);
	uint64_t value;

	if (!*number || parse_u64(number + 1, 0, UINT64_MAX, &value) < 0)
		return -EBADMSG;
	if (c && c->source == COUNTER_OF_DRIVER)
		*counter_place(c, stats) = value;
	return 0;
}

static int read_stats(struct stream_file_reader *r, struct span in)
{
	const char *text = span_string(&in);

	return text ? parse_list(text, '\n', read_stat, &r->stats) : -EBADMSG;
}

/* Reads the next chunk's payload into r->chunk; 1, 0 at the end of the file or where it was cut
 * short, -EBADMSG, -EIO. */
static int next_chunk(struct stream_file_reader *r, uint32_t *ret_kind, size_t *ret_size)
{
	uint32_t head[2];
	size_t n = fread(head, 1, sizeof(head), r->file);

	if (n == 0)
		return ferror(r->file) ? -EIO : 0;
	if (n == sizeof(head) && (head[1] % 8 || head[1] > CHUNK_MAX))
		return -EBADMSG;
	if (n == sizeof(head)) {
		array_grow(&r->chunk, head[1] / sizeof(*r->chunk), &r->room);
		n = fread(r->chunk, 1, head[1], r->file);
		if (n == head[1]) {
			*ret_kind = head[0];
			*ret_size = head[1];
			return 1;
		}
	}
	if (ferror(r->file))
		return -EIO;
	log_warn("%s: cut short inside a chunk; the chunks before it are used", r->path);
	return 0;
}

static int read_head(struct stream_file_reader *r, struct error *err)
{
	char name[sizeof(magic)];
	uint32_t head[2], kind;
	size_t size;

	if (fread(name, sizeof(name), 1, r->file) != 1 || memcmp(name, magic, sizeof(magic)) ||
	    fread(head, sizeof(head), 1, r->file) != 1)
		return error_set(err, -EBADMSG, "%s: not a recorded event stream", r->path);
	if (head[0] != ORDER_MARK)
		return error_set(err, -EBADMSG,
				 "%s: recorded on a machine with the other byte order", r->path);
	if (head[1] != VERSION)
		return error_set(err, -EBADMSG, "%s: stream version %u, this reads version %d",
				 r->path, head[1], VERSION);
	if (next_chunk(r, &kind, &size) != 1 || kind != CHUNK_EVENTS ||
	    read_events(r, span_of(r->chunk, size)) < 0)
		return error_set(err, -EBADMSG, "%s: its list of events is damaged", r->path);
	if (next_chunk(r, &kind, &size) != 1 || kind != CHUNK_BOOT ||
	    read_boot(r, span_of(r->chunk, size)) < 0)
		return error_set(err, -EBADMSG, "%s: its boot id is damaged", r->path);
	return 0;
}

int stream_file_open(const char *path, struct stream_file_reader **ret, struct error *err)
{
	_cleanup_(stream_file_reader_closep) struct stream_file_reader *r = xcalloc(1, sizeof(*r));
	int result;

	r->path = xstrdup(path);
	r->file = fopen(path, "re");
	if (!r->file)
		return error_errno(err, -errno, "%s", path);
	result = read_head(r, err);
	if (result < 0)
		return result;
	*ret = STEAL(r);
	return 0;
}

void stream_file_reader_close(struct stream_file_reader *r)
{
	if (!r)
		return;
	if (r->file)
		(void)fclose(r->file);
	free(r->chunk);
	free(r->path);
	free(r);
}

const struct event *stream_file_events(const struct stream_file_reader *r, size_t *ret_count)
{
	*ret_count = r->event_count;
	return r->events;
}

bool stream_file_same_boot(const struct stream_file_reader *r)
{
	_cleanup_free_ char *boot_id = running_boot_id();

	return *boot_id && !strcmp(boot_id, r->boot_id);
}

int stream_file_other_boot(const char *path, struct error *err)
{
	_cleanup_(stream_file_reader_closep) struct stream_file_reader *reader = NULL;
	int r = stream_file_open(path, &reader, err);

	return r < 0 ? r : !stream_file_same_boot(reader);
}

int stream_file_next(struct stream_file_reader *r, struct cookie_table *cookies,
		     const uint64_t **ret_words, size_t *ret_count, struct error *err)
{
	uint32_t kind;
	size_t size;
	int got, bad = 0;

	while ((got = next_chunk(r, &kind, &size)) > 0 && kind != CHUNK_WORDS) {
		if (kind == CHUNK_COOKIE)
			bad = cookie_chunk_read(span_of(r->chunk, size), cookies);
		else if (kind == CHUNK_STATS)
			bad = read_stats(r, span_of(r->chunk, size));
		if (bad < 0)
			break; /* chunks of other kinds are a later version's: skipped */
	}
	if (got < 0 || bad < 0)
		return error_set(err, -EBADMSG, "%s: damaged before offset %ld", r->path,
				 ftell(r->file));
	if (got > 0) {
		*ret_words = r->chunk;
		*ret_count = size / sizeof(**ret_words);
	}
	return got;
}

void stream_file_stats(const struct stream_file_reader *r, struct driver_stats *ret)
{
	*ret = r->stats;
}
