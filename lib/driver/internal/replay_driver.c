/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Driver "replay": the event buffer comes from a file that `oprofiled --tee` wrote. */
#include "driver/driver.h"

#include "base/log.h"
#include "base/mem.h"
#include "identity/cookie.h"
#include "stream/stream_file.h"

#include <errno.h>
#include <sys/eventfd.h>

/* Words processed per sync, so that the daemon stays responsive to its socket and signals. */
enum { WORDS_A_SYNC = 1 << 20 };

struct driver {
	struct stream_file_reader *reader;
	struct cookie_table *cookies;
	evbuf_sink *sink;
	void *sink_data;
	char *why;
	int ready; /* eventfd, readable while there is more, as a regular file cannot be polled */
	bool running;
};

static int replay_probe(const struct driver_config *config, struct error *err)
{
	_cleanup_(stream_file_reader_closep) struct stream_file_reader *reader = NULL;

	if (!config->replay_path)
		return error_set(err, -EINVAL, "replay: no recorded stream given");
	return stream_file_open(config->replay_path, &reader, err);
}

static void replay_shutdown(struct driver *d)
{
	if (!d)
		return;
	stream_file_reader_close(d->reader);
	if (d->ready >= 0)
		(void)close(d->ready);
	free(d->why);
	free(d);
}

DEFINE_CLEANUP(struct driver *, replay_shutdown);

static int replay_setup(const struct driver_config *config, struct driver **ret, struct error *err)
{
	_cleanup_(replay_shutdownp) struct driver *d = xcalloc(1, sizeof(*d));
	int r;

	d->ready = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->ready < 0)
		return error_errno(err, -errno, "cannot create an eventfd");
	if (!config->replay_path)
		return error_set(err, -EINVAL, "replay: no recorded stream given");
	r = stream_file_open(config->replay_path, &d->reader, err);
	if (r < 0)
		return r;
	d->cookies = config->cookies;
	d->sink = config->sink;
	d->sink_data = config->sink_data;
	d->why = xasprintf("replay: %s, recorded in %s boot", config->replay_path,
			   stream_file_same_boot(d->reader) ? "this" : "another");
	*ret = STEAL(d);
	return 0;
}

static int replay_start(struct driver *d, struct error *err _unused_)
{
	d->running = true;
	return 0;
}

static void replay_stop(struct driver *d)
{
	d->running = false;
}

static int replay_sync(struct driver *d, bool all, struct error *err)
{
	const uint64_t *words;
	size_t count, done = 0;
	int r;

	if (!d->running)
		return 0;
	while (all || done < WORDS_A_SYNC) {
		r = stream_file_next(d->reader, d->cookies, &words, &count, err);
		if (r < 0)
			return r;
		if (r == 0)
			return 1;
		r = d->sink(words, count, d->sink_data);
		if (r < 0)
			return error_errno(err, r, "replay: the event buffer's reader failed");
		done += count;
	}
	return 0;
}

static int replay_fd(const struct driver *d)
{
	return d->ready;
}

static const struct event *replay_events(const struct driver *d, size_t *ret_count)
{
	return stream_file_events(d->reader, ret_count);
}

static const char *replay_why(const struct driver *d)
{
	return d->why;
}

static void replay_stats(const struct driver *d, struct driver_stats *ret)
{
	stream_file_stats(d->reader, ret);
}

const struct driver_ops driver_replay = {
	.name = "replay",
	.probe = replay_probe,
	.setup = replay_setup,
	.start = replay_start,
	.sync = replay_sync,
	.stop = replay_stop,
	.shutdown = replay_shutdown,
	.fd = replay_fd,
	.events = replay_events,
	.why = replay_why,
	.stats = replay_stats,
};
