/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/stream_outlet.h"

#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

enum { SEND_MAX = 64 << 10 }; /* bytes at a time: what a socket takes easily */

struct stream_outlet {
	int fd;
	uint64_t *words;
	size_t count, room; /* words */
	size_t sent;	    /* bytes of the first word that were sent */
	size_t watershed;
	bool flowing;  /* everything is sent as fast as the socket takes it */
	bool dropping; /* until the end of this sync */
	uint64_t lost;
};

struct stream_outlet *stream_outlet_new(int fd, size_t room, size_t watershed)
{
	struct stream_outlet *o = xcalloc(1, sizeof(*o));

	o->fd = fd;
	o->room = room;
	o->words = xcalloc(room, sizeof(*o->words));
	o->watershed = watershed;
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

/* Drops the words that were sent. */
static void close_ranks(struct stream_outlet *o)
{
	size_t whole = o->sent / sizeof(*o->words);

	memmove(o->words, o->words + whole, (o->count - whole) * sizeof(*o->words));
	o->count -= whole;
	o->sent -= whole * sizeof(*o->words);
}

int stream_outlet_words(const uint64_t *words, size_t count, void *data)
{
	struct stream_outlet *o = data;

	if (!o->dropping && count > o->room - o->count)
		close_ranks(o);
	o->dropping |= count > o->room - o->count;
	if (o->dropping) {
		o->lost += count;
		return 0;
	}
	memcpy(o->words + o->count, words, count * sizeof(*words));
	o->count += count;
	return 0;
}

int stream_outlet_send(struct stream_outlet *o, bool now)
{
	size_t left;
	ssize_t n;

	o->dropping = false;
	o->flowing |= now || o->count >= o->watershed;
	while (o->flowing && (left = o->count * sizeof(*o->words) - o->sent)) {
		n = send(o->fd, (const char *)o->words + o->sent, MIN(left, (size_t)SEND_MAX),
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return 1;
		if (n < 0)
			return -EPIPE;
		o->sent += (size_t)n;
	}
	if (o->flowing)
		o->count = o->sent = 0;
	o->flowing = false;
	return 0;
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
