/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader.h"

#include "control/server.h"
#include "logfile.h"
#include "collect/stream_outlet.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

uint64_t reader_lost(const struct reader *r)
{
	return r->lost + (r->outlet ? stream_outlet_lost(r->outlet) : 0);
}

void reader_end(struct reader *r)
{
	if (!r->outlet)
		return;
	r->lost = reader_lost(r);
	collector_set_outlet(r->collector, NULL);
	(void)epoll_ctl(r->epoll, EPOLL_CTL_DEL, stream_outlet_fd(r->outlet), NULL);
	stream_outlet_free(STEAL(r->outlet));
	log_info("the reader of the event buffer has disconnected");
}

void reader_feed(struct reader *r, bool now)
{
	struct epoll_event event = { .events = EPOLLRDHUP, .data.u32 = r->mark };
	int sent;

	if (!r->outlet)
		return;
	sent = stream_outlet_send(r->outlet, now);
	if (sent < 0) {
		reader_end(r);
		return;
	}
	event.events |= sent > 0 ? EPOLLOUT : 0;
	(void)epoll_ctl(r->epoll, EPOLL_CTL_MOD, stream_outlet_fd(r->outlet), &event);
}

static void notice_hangup(struct reader *r)
{
	if (r->outlet && stream_outlet_gone(r->outlet))
		reader_end(r);
}

void reader_take(struct reader *r)
{
	notice_hangup(r);
	reader_feed(r, false);
}

static uint32_t enabled_counters(const struct reader *r)
{
	const struct node_settings *settings = nodes_settings(r->nodes);
	uint32_t bits = 0;

	for (size_t i = 0; i < settings->counter_count; i++)
		bits |= (uint32_t)settings->counters[i].enabled << i;
	return bits;
}

void reader_check(struct reader *r)
{
	if (enabled_counters(r) != r->knows)
		reader_end(r);
}

static size_t ibs_op_words(const struct node_settings *settings)
{
	return settings->ibs_op.enable && settings->ibs_op.branch_target ? 14 : 13;
}

int reader_ask(struct reader *r, struct strbuf *answer, struct error *err)
{
	const struct node_settings *settings = nodes_settings(r->nodes);

	notice_hangup(r);
	if (r->outlet)
		return error_set(err, -EBUSY, "EBUSY: the event buffer already has a reader");
	for (size_t i = 0; i < settings->counter_count; i++)
		if (settings->counters[i].enabled)
			control_answer(answer, "counter", "%zu", i);
	control_answer(answer, "ibs_op_words", "%zu", ibs_op_words(settings));
	return 0;
}

void reader_adopt(int fd, void *data)
{
	struct epoll_event event = { .events = EPOLLRDHUP };
	struct reader *r = data;
	const struct node_settings *settings = nodes_settings(r->nodes);
	const struct stream_outlet_config outlet = {
		.room = settings->buffer_size,
		.watershed = MIN(settings->buffer_watershed, settings->buffer_size - 1),
		.ibs_op_words = ibs_op_words(settings),
		.cookies = collector_cookies(r->collector),
	};

	event.data.u32 = r->mark;
	if (r->outlet) {
		(void)close(fd);
		return;
	}
	r->knows = enabled_counters(r);
	r->outlet = stream_outlet_new(fd, &outlet);
	if (epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
		log_error("cannot wait for the reader of the event buffer: %m");
		stream_outlet_free(STEAL(r->outlet));
		return;
	}
	collector_set_outlet(r->collector, r->outlet);
	reader_feed(r, false);
	log_info("a reader of the event buffer has connected");
}
