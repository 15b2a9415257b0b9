/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/stream_outlet.h"

#include "base/mem.h"
#include "identity/cookie.h"
#include "stream/evbuf.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

enum {
	SEND_MAX = 64 << 10,   /* bytes at a time: what a socket takes easily */
	RECORD_WORDS_MAX = 18, /* of those whose words are looked at: IBS_OP has most */
};

struct stream_outlet {
	struct stream_outlet_config config;
	int fd;
	uint64_t *words;
	size_t count;  /* words that wait */
	size_t sent;   /* bytes of the first word that were sent */
	size_t due;    /* ->count at which to try to send */
	bool flowing;  /* everything is sent as fast as the socket takes it */
	bool dropping; /* until the end of this sync */
	uint64_t lost;

	/* Where the stream is. */
	bool kernel;
	uint64_t base; /* start of the anonymous memory that samples are in, or 0 */
};

static size_t watershed_words(const struct stream_outlet *o)
{
	return o->config.room - o->config.watershed;
}

struct stream_outlet *stream_outlet_new(int fd, const struct stream_outlet_config *config)
{
	struct stream_outlet *o = xcalloc(1, sizeof(*o));

	assert(config->watershed < config->room);
	o->config = *config;
	o->fd = fd;
	o->words = xcalloc(config->room, sizeof(*o->words));
	o->due = watershed_words(o);
	return o;
}

void stream_outlet_free(struct stream_outlet *o)
{
	if (!o)
		return;
	(void)close(o->fd);
	free(o->words);
	free(o);
}

/* --- cookies --- */

/* Makes a cookie that of the kernel driver; returns where the image is if it is anonymous. */
static uint64_t translate_image(const struct stream_outlet *o, uint64_t *cookie)
{
	const struct cookie_image *image =
		*cookie < EVBUF_KERNEL ? cookie_lookup(o->config.cookies, *cookie) : NULL;

	if (!image || image->kind != COOKIE_ANON)
		return 0;
	*cookie = EVBUF_NO_COOKIE;
	return image->start;
}

static void translate_application(const struct stream_outlet *o, uint64_t *cookie)
{
	const struct cookie_image *image = cookie_lookup(o->config.cookies, *cookie);

	if (!image || image->kind != COOKIE_FILE)
		*cookie = EVBUF_NO_COOKIE;
}

/* Translates the cookies of a record, and offsets in anonymous memory. */
static void translate(struct stream_outlet *o, uint64_t *record)
{
	if (record[0] != EVBUF_ESCAPE) {
		record[0] += o->kernel ? 0 : o->base;
		return;
	}
	switch (record[1]) {
	case EVBUF_CTX_SWITCH:
		translate_application(o, &record[3]);
		break;
	case EVBUF_COOKIE_SWITCH:
		o->base = translate_image(o, &record[2]);
		break;
	case EVBUF_KERNEL_ENTER:
	case EVBUF_USER_ENTER:
		o->kernel = record[1] == EVBUF_KERNEL_ENTER;
		break;
	case EVBUF_CALLER:
		record[3] += translate_image(o, &record[2]);
		break;
	case EVBUF_IBS_FETCH:
	case EVBUF_IBS_OP:
		record[2] += o->kernel ? 0 : o->base;
		break;
	default:
		break;
	}
}

/* --- the queue --- */

/* Drops the words that were sent. */
static void close_ranks(struct stream_outlet *o)
{
	size_t whole = o->sent / sizeof(*o->words);

	memmove(o->words, o->words + whole, (o->count - whole) * sizeof(*o->words));
	o->count -= whole;
	o->sent -= whole * sizeof(*o->words);
}

/* Sends what the socket takes; as stream_outlet_send(). */
static int push(struct stream_outlet *o)
{
	size_t left;
	ssize_t n;

	while ((left = o->count * sizeof(*o->words) - o->sent)) {
		n = send(o->fd, (const char *)o->words + o->sent, MIN(left, (size_t)SEND_MAX),
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0) {
			o->due = o->count + SEND_MAX / sizeof(*o->words);
			return errno == EAGAIN ? 1 : -EPIPE;
		}
		o->sent += (size_t)n;
	}
	o->count = o->sent = 0;
	o->flowing = false;
	o->due = watershed_words(o);
	return 0;
}

static bool has_room(const struct stream_outlet *o, size_t count)
{
	return count <= o->config.room - o->count;
}

static void put_record(struct stream_outlet *o, const uint64_t *record, size_t count)
{
	if (!o->dropping && !has_room(o, count)) {
		(void)push(o);
		close_ranks(o);
	}
	o->dropping |= !has_room(o, count);
	if (o->dropping) {
		o->lost += count;
		return;
	}
	memcpy(o->words + o->count, record, count * sizeof(*record));
	o->count += count;
	if (o->count >= o->due) {
		o->flowing = true;
		(void)push(o);
	}
}

/* The number of words of the record at the start of @words. */
static size_t words_of_record(const struct stream_outlet *o, const uint64_t *words, size_t count)
{
	size_t need = 2;
	int after;

	if (count >= 2 && words[0] == EVBUF_ESCAPE) {
		after = evbuf_words_after(words[1]);
		need += (size_t)MAX(after, 0);
		if (words[1] == EVBUF_IBS_OP && o->config.ibs_op_words)
			need = 2 + o->config.ibs_op_words;
	}
	return MIN(need, count);
}

int stream_outlet_words(const uint64_t *words, size_t count, void *data)
{
	uint64_t record[RECORD_WORDS_MAX] = { 0 };
	struct stream_outlet *o = data;
	size_t i, n;

	for (i = 0; i < count; i += n) {
		n = MIN(words_of_record(o, words + i, count - i), ARRAY_SIZE(record));
		memcpy(record, words + i, n * sizeof(*record));
		translate(o, record);
		put_record(o, record, n);
	}
	return 0;
}

int stream_outlet_send(struct stream_outlet *o, bool now)
{
	o->dropping = false;
	o->flowing |= now || o->count >= watershed_words(o);
	return o->flowing ? push(o) : 0;
}

bool stream_outlet_gone(const struct stream_outlet *o)
{
	struct pollfd p = { .fd = o->fd, .events = POLLRDHUP };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR | POLLRDHUP);
}

int stream_outlet_fd(const struct stream_outlet *o)
{
	return o->fd;
}

uint64_t stream_outlet_lost(const struct stream_outlet *o)
{
	return o->lost;
}
