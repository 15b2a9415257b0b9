/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perfdata/perf_import.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "file/open_regular.h"
#include "file/owner.h"
#include "identity/cookie.h"
#include "perfdata/internal/perf_events.h"
#include "perfdata/internal/perf_machine.h"
#include "perfdata/perf_feed.h"
#include "perfdata/perf_file.h"
#include "record/record.h"
#include "sfile/session.h"
#include "sfile/session_lock.h"
#include "sfile/setup.h"
#include "stream/evbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MAGIC_SIZE = 8, BUFFER_WORDS = 128 << 10 };

static const char session_name[] = "current";

struct mapped {
	void *bytes; /* NULL: not mapped */
	size_t size;
	uint64_t mtime; /* seconds */
};

static void unmap(struct mapped *m)
{
	if (m->bytes)
		(void)munmap(m->bytes, m->size);
}

static int map_file(const char *path, struct mapped *ret, struct error *err)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno(err, fd < 0 ? fd : -errno, "%s", path);
	if (st.st_size < MAGIC_SIZE)
		return error_set(err, -EBADMSG, "%s: is cut short", path);
	ret->size = (size_t)st.st_size;
	ret->mtime = (uint64_t)st.st_mtime;
	ret->bytes = mmap(NULL, ret->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (ret->bytes != MAP_FAILED)
		return 0;
	ret->bytes = NULL;
	return error_errno(err, -errno, "%s", path);
}

bool perf_import_is(const char *path)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);
	char magic[MAGIC_SIZE];

	return fd >= 0 && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       perf_file_is(span_of(magic, sizeof(magic)));
}

/* What is needed until the session is written. */
struct import {
	const struct perf_import_config *config;
	struct perf_file *file;
	struct perf_events events;
	struct perf_machine_kernel kernel;
	struct cookie_table *cookies;
	struct record *rec;
	struct driver_stats stats, written;
	uint64_t recorded_at; /* seconds since the epoch, when perf ended */
};

static void import_done(struct import *im)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();

	record_free(im->rec);
	cookie_table_free(im->cookies);
	perf_file_close(im->file);
}

/* Makes room for the session. 0 or -errno. */
static int clear_session(const struct perf_import_config *config, struct error *err)
{
	if (!session_exists(config->session_dir, session_name))
		return 0;
	if (!config->force)
		return error_set(err, -EEXIST, "%s: has a profile (--force replaces it)",
				 config->session_dir);
	return session_remove(config->session_dir, session_name, err);
}

static int open_session(struct import *im, struct error *err)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
	const struct perf_file_machine *machine = perf_file_machine(im->file);
	struct record_config config = {
		.session_dir = im->config->session_dir,
		.session_name = session_name,
		.events = im->events.list,
		.event_count = im->events.count,
		.separate = im->config->separate,
		.command = machine->command ?: "perf record",
		.root = im->config->scratch,
		.no_vmlinux = !im->kernel.has_symbols,
		.cookies = im->cookies,
	};
	int r = clear_session(im->config, err);

	return r < 0 ? r : record_new(&config, &im->rec, err);
}

/* An evbuf_sink: writes as root what was read with the rights of the file's owner. */
static int put_words(const uint64_t *words, size_t count, void *data)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
	struct import *im = data;

	return record_words(words, count, im->rec);
}

/* When the sample at @at_ns was taken, in seconds since the epoch. */
static uint64_t wall_seconds(const struct import *im, uint64_t at_ns)
{
	const struct perf_file_machine *m = perf_file_machine(im->file);

	if (m->wall_ns)
		return (m->wall_ns + at_ns - m->wall_clock_ns) / NS_PER_S;
	return im->recorded_at - MIN((im->events.last_ns - at_ns) / NS_PER_S, im->recorded_at);
}

/* Corrects what the recorder wrote about this machine and this moment. */
static int fix_setup(const struct import *im, const char *samples, struct error *err)
{
	const struct perf_file_machine *machine = perf_file_machine(im->file);
	struct setup s = { 0 };
	int r = setup_read(samples, &s, err);

	if (r < 0)
		return r;
	s.cpus = machine->cpus;
	s.began = s.started = wall_seconds(im, im->events.first_ns);
	s.ended = wall_seconds(im, im->events.last_ns);
	r = setup_write(samples, &s, err);
	setup_done(&s);
	return r;
}

static int close_session(struct import *im, struct perf_import_stats *ret, struct error *err)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
	_cleanup_free_ char *samples = session_samples(im->config->session_dir, session_name);
	const struct counter *c;
	struct record_stats stats;
	int r;

	record_sync(im->rec, true);
	for (size_t i = 0; (c = counter_at(i)); i++)
		if (c->source == COUNTER_OF_DRIVER)
			record_note(im->rec, c->name, counter_value(c, &im->stats, NULL),
				    counter_place(c, &im->written));
	r = record_flush(im->rec, true, err);
	if (r == 0)
		r = record_write_setup(im->rec, SETUP_IMPORT, err);
	if (r == 0)
		r = fix_setup(im, samples, err);
	record_stats(im->rec, &stats);
	if (stats.kernel_samples && !im->kernel.has_symbols)
		log_warn("the kernel's symbols are neither in perf's cache nor on this machine: "
			 "kernel samples have only addresses");
	*ret = (struct perf_import_stats){ .received = im->stats.sample_received,
					   .recorded = record_counted(im->rec),
					   .lost = im->stats.sample_lost_overflow };
	return r;
}

static int prepare(struct import *im, struct span bytes, const char *path, struct error *err)
{
	int r = perf_file_open(bytes, path, &im->file, err);

	if (r < 0)
		return r;
	r = perf_events_read(im->file, &im->events, err);
	if (r < 0)
		return error_prefix(err, "%s", path);
	r = perf_machine_write(im->file, im->config->cache, im->config->scratch, &im->kernel, err);
	if (r < 0)
		return r;
	im->cookies = cookie_table_new();
	return open_session(im, err);
}

int perf_import(const char *path, const struct perf_import_config *config,
		struct perf_import_stats *ret, struct error *err)
{
	_cleanup_(unmap) struct mapped mapped = { 0 };
	_cleanup_(import_done) struct import im = { .config = config };
	struct perf_feed_config feed = { .cache = config->cache, .stats = &im.stats };
	int r = map_file(path, &mapped, err);

	if (r < 0)
		return r;
	im.recorded_at = mapped.mtime;
	r = prepare(&im, span_of(mapped.bytes, mapped.size), path, err);
	if (r < 0)
		return r;
	feed.file = im.file;
	feed.cookies = im.cookies;
	feed.is_own_vdso = im.kernel.is_own;
	feed.out = evbuf_new(BUFFER_WORDS, put_words, &im);
	perf_feed(&feed);
	r = evbuf_flush(feed.out);
	evbuf_free(feed.out);
	return r < 0 ? error_errno(err, r, "%s", config->session_dir)
		     : close_session(&im, ret, err);
}
