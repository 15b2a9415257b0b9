/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/oprofilefs/fuse_buffer.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum {
	BLOCK = 64 << 10, /* bytes received at a time */
	PAGE = 4096,
	SPLIT_FROM = 128 << 10, /* bytes: a request that long may be part of a longer read */
};

void fuse_buffer_init(struct fuse_buffer *b, const char *session_dir)
{
	*b = (struct fuse_buffer){ .session_dir = session_dir, .fd = -1 };
}

/* Closes the connection, when nobody has the file open any more. */
static void close_all(struct fuse_buffer *b)
{
	cleanup_closep(&b->fd);
	b->fd = -1;
	evexport_free(STEAL(b->export));
	if (b->poller)
		fuse_pollhandle_destroy(STEAL(b->poller));
	b->part_size = 0;
	b->used = b->ended = false;
}

void fuse_buffer_done(struct fuse_buffer *b)
{
	close_all(b);
	asker_free(STEAL(b->asker));
}

/* --- opening --- */

static void on_open_interrupt(fuse_req_t req, void *data)
{
	struct fuse_buffer *b = data;

	b->opener = NULL;
	(void)fuse_reply_err(req, EINTR);
}

/* Reads the daemon's description of its stream: "counter N" for each event, in order; "ibs_op_words
 * N". */
static struct evexport *export_for(const char *answer)
{
	struct evexport_config config = { .counter_count = 0 };
	unsigned int number;

	for (; *answer; answer += strcspn(answer, "\n"), answer += *answer == '\n') {
		if (sscanf(answer, "counter %u", &number) == 1 && number <= UINT8_MAX &&
		    config.counter_count < EVEXPORT_COUNTERS_MAX)
			config.counters[config.counter_count++] = (uint8_t)number;
		else if (sscanf(answer, "ibs_op_words %u", &number) == 1 && number <= 16)
			config.ibs_op_words = number;
	}
	return evexport_new(&config);
}

static void put_bytes(struct fuse_buffer *b, const char *bytes, size_t size)
{
	uint64_t words[BLOCK / sizeof(uint64_t) + 1];
	size_t total = b->part_size + size, whole = total / sizeof(*words);

	memcpy(words, b->part, b->part_size);
	memcpy((char *)words + b->part_size, bytes, size);
	evexport_put(b->export, words, whole);
	b->part_size = total % sizeof(*words);
	memcpy(b->part, words + whole, b->part_size);
}

static void take_open(int r, const char *answer, void *data)
{
	_cleanup_(strbuf_done) struct strbuf rest = STRBUF_INIT;
	struct fuse_buffer *b = data;
	fuse_req_t req = STEAL(b->opener);
	size_t at;

	if (req)
		fuse_req_interrupt_func(req, NULL, NULL);
	if (r < 0 || !req) {
		close_all(b);
		if (req)
			(void)fuse_reply_err(req, r == -EREMOTEIO || r == -ECONNRESET ? EIO : -r);
		return;
	}
	b->fd = asker_hand_over(b->asker, &rest);
	b->export = export_for(answer);
	for (at = 0; at < rest.length; at += BLOCK)
		put_bytes(b, rest.text + at, MIN(rest.length - at, (size_t)BLOCK));
	b->fi.direct_io = b->fi.nonseekable = 1;
	if (fuse_reply_open(req, &b->fi) == -ENOENT)
		close_all(b);
}

void fuse_buffer_open(struct fuse_buffer *b, fuse_req_t req, const struct fuse_file_info *fi)
{
	if (b->used) {
		(void)fuse_reply_err(req, EBUSY);
		return;
	}
	asker_free(b->asker);
	b->asker = asker_new(b->session_dir);
	b->used = true;
	b->opener = req;
	b->fi = *fi;
	fuse_req_interrupt_func(req, on_open_interrupt, b);
	asker_ask(b->asker, "buffer", take_open, b);
}

/* --- reading --- */

/* Receives what has come; false if nothing has. */
static bool pull(struct fuse_buffer *b)
{
	char block[BLOCK];
	ssize_t n = b->ended ? 0 : recv(b->fd, block, sizeof(block), MSG_DONTWAIT);

	if (n > 0)
		put_bytes(b, block, (size_t)n);
	else if (n == 0 || errno != EAGAIN)
		b->ended = true;
	return n > 0;
}

static void on_read_interrupt(fuse_req_t req, void *data)
{
	struct fuse_buffer *b = data;

	b->reader = NULL;
	(void)fuse_reply_err(req, EINTR);
}

/* Answers the reader with the available words; without any, lets it wait. */
static void try_read(struct fuse_buffer *b, bool nonblocking)
{
	_cleanup_free_ uint64_t *out = xcalloc(b->room, sizeof(*out));
	fuse_req_t req;
	size_t n = 0;

	evexport_restart(b->export);
	do
		n += evexport_take(b->export, out + n, b->room - n);
	while (b->room - n >= EVEXPORT_READ_MIN && pull(b));
	if (!n && !b->ended && !nonblocking)
		return;
	req = STEAL(b->reader);
	fuse_req_interrupt_func(req, NULL, NULL);
	if (n || b->ended)
		(void)fuse_reply_buf(req, (const char *)out, n * sizeof(*out));
	else
		(void)fuse_reply_err(req, EAGAIN);
}

void fuse_buffer_read(struct fuse_buffer *b, fuse_req_t req, size_t size, bool nonblocking)
{
	size_t room = size / sizeof(uint64_t);

	/* The kernel splits a long read, and asks for the next part if one was filled completely.
	 * No part is filled completely, so that a read returns the available words instead of
	 * waiting for more. */
	if (size >= SPLIT_FROM && size % PAGE == 0)
		room--;
	if (b->reader || room < EVEXPORT_READ_MIN) {
		(void)fuse_reply_err(req, b->reader ? EBUSY : EINVAL);
		return;
	}
	b->reader = req;
	b->room = room;
	fuse_req_interrupt_func(req, on_read_interrupt, b);
	if (b->reader)
		try_read(b, nonblocking);
}

static bool is_readable(const struct fuse_buffer *b)
{
	struct pollfd p = { .fd = b->fd, .events = POLLIN };

	return b->ended || evexport_ready(b->export) || poll(&p, 1, 0) > 0;
}

void fuse_buffer_poll(struct fuse_buffer *b, fuse_req_t req, struct fuse_pollhandle *handle)
{
	bool readable = is_readable(b);

	if (handle) {
		if (b->poller)
			fuse_pollhandle_destroy(b->poller);
		b->poller = handle;
	}
	(void)fuse_reply_poll(req, readable ? POLLIN | POLLRDNORM : 0);
}

void fuse_buffer_release(struct fuse_buffer *b, fuse_req_t req)
{
	close_all(b);
	(void)fuse_reply_err(req, 0);
}

/* --- the loop --- */

void fuse_buffer_polled(const struct fuse_buffer *b, struct pollfd *ret)
{
	ret[0] = (struct pollfd){ .fd = b->asker ? asker_fd(b->asker) : -1,
				  .events = b->asker ? asker_events(b->asker) : 0 };
	ret[1] = (struct pollfd){ .fd = b->reader || b->poller ? b->fd : -1, .events = POLLIN };
}

void fuse_buffer_run(struct fuse_buffer *b)
{
	if (b->asker && asker_fd(b->asker) >= 0)
		asker_run(b->asker);
	if (b->poller && is_readable(b)) {
		(void)fuse_lowlevel_notify_poll(b->poller);
		fuse_pollhandle_destroy(STEAL(b->poller));
	}
	if (b->reader)
		try_read(b, false);
}
