/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/collector.h"

#include "base/log.h"
#include "base/mem.h"
#include "driver/cookie.h"
#include "driver/tee.h"
#include "event/cpu_type.h"
#include "record/feature.h"
#include "sfile/session.h"
#include "sfile/setup.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

/* The counters go to stats/ at least that often, so that a killed daemon's are not lost. */
enum { STATS_PERIOD_S = 10 };

struct collector {
	const struct driver_ops *ops;
	struct driver *driver;
	struct cookie_table *cookies;
	struct record *record;
	struct tee *tee; /* or NULL */
	char *session_dir, *session_name, *samples, *root;
	int lock;
	bool running;
	struct driver_stats written; /* what stats/ holds of this run already */
	time_t written_at;
};

/* Takes the event buffer from the driver: an evbuf_sink. */
static int take_words(const uint64_t *words, size_t count, void *data)
{
	struct collector *c = data;
	struct error err = ERROR_INIT;

	if (c->tee && tee_words(words, count, c->tee) < 0) {
		(void)tee_close(c->tee, NULL, &err);
		log_error("%s: the event buffer is recorded no further", err.text);
		c->tee = NULL;
	}
	return record_words(words, count, c->record);
}

void collector_free(struct collector *c)
{
	struct driver_stats stats;
	struct error err = ERROR_INIT;

	if (!c)
		return;
	if (c->tee) {
		c->ops->stats(c->driver, &stats);
		if (tee_close(c->tee, &stats, &err) < 0)
			log_error("%s", err.text);
	}
	if (c->driver)
		c->ops->shutdown(c->driver);
	record_free(c->record);
	cookie_table_free(c->cookies);
	if (c->lock >= 0)
		(void)close(c->lock);
	free(c->session_dir);
	free(c->session_name);
	free(c->samples);
	free(c->root);
	free(c);
}

static int open_driver(struct collector *c, const struct collector_config *config,
		       const struct driver_ops **ret_ops, struct driver **ret, struct error *err)
{
	struct driver_config drive = config->drive;

	drive.cookies = c->cookies;
	drive.sink = take_words;
	drive.sink_data = c;
	drive.ibs = feature_ibs_needs(config->record.ext_feature);
	drive.offcpu = feature_is_offcpu(config->record.ext_feature, &drive.offcpu_blocked);
	return driver_open(config->driver, &drive, ret_ops, ret, err);
}

/* Whether the driver's kernel addresses are not those of the running kernel. */
static bool from_another_boot(const struct collector *c, const struct collector_config *config)
{
	_cleanup_(tee_reader_closep) struct tee_reader *reader = NULL;

	return c->ops == &driver_replay &&
	       tee_open(config->drive.replay_path, &reader, NULL) == 0 && !tee_same_boot(reader);
}

static int open_record(struct collector *c, const struct collector_config *config,
		       struct error *err)
{
	struct record_config record = config->record;

	if (from_another_boot(c, config) && !record.no_vmlinux && !record.kernel_end) {
		log_warn("%s was recorded in another boot: kernel samples will have no symbols",
			 config->drive.replay_path);
		record.no_vmlinux = true;
	}

	record.session_dir = c->session_dir;
	record.session_name = c->session_name;
	record.events = c->ops->events(c->driver, &record.event_count);
	record.cookies = c->cookies;
	/* The processes of a recorded stream are not those of today. */
	record.jit = c->ops != &driver_replay;
	return record_new(&record, &c->record, err);
}

/* Says in the session what is sampled, for the report's header. */
static int write_setup(struct collector *c, struct error *err)
{
	struct setup s = { .driver = xstrdup(c->ops->why(c->driver)) };
	const struct event *events;
	size_t i, count;
	int r;

	events = c->ops->events(c->driver, &count);
	s.cpu_type = xstrdup(cpu_type_detect(c->root, event_clock_only(events, count))->key);
	setup_describe_machine(&s, c->root);
	for (i = 0; i < count; i++)
		setup_add_event(&s, events[i].name, events[i].count, events[i].unit_mask,
				events[i].rate_hz);
	r = session_create(c->session_dir, c->session_name, err);
	if (r == 0)
		r = setup_write(c->samples, &s, err);
	setup_done(&s);
	return r;
}

int collector_new(const struct collector_config *config, struct collector **ret, struct error *err)
{
	_cleanup_(collector_freep) struct collector *c = xcalloc(1, sizeof(*c));
	size_t count;
	int r;

	c->session_dir = xstrdup(config->record.session_dir);
	c->session_name = xstrdup(config->record.session_name);
	c->samples = session_samples(c->session_dir, c->session_name);
	c->root = xstrdup(config->record.root ? config->record.root : "");
	c->cookies = cookie_table_new();
	c->lock = session_lock(c->session_dir, err);
	if (c->lock < 0)
		return c->lock;
	r = open_driver(c, config, &c->ops, &c->driver, err);
	if (r == 0)
		r = open_record(c, config, err);
	if (r == 0 && config->tee_path) {
		const struct event *events = c->ops->events(c->driver, &count);

		r = tee_create(config->tee_path, events, count, c->cookies, &c->tee, err);
	}
	if (r < 0)
		return r;
	*ret = STEAL(c);
	return 0;
}

static time_t now_s(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec;
}

/* Adds what the driver's counters grew by to stats/. */
static int write_driver_stats(struct collector *c, struct error *err)
{
	struct driver_stats now;
	int r = 0;

	c->ops->stats(c->driver, &now);
#define X(name, text)                                                                              \
	if (r == 0 && now.name > c->written.name)                                                  \
		r = session_stat_add(c->samples, #name, now.name - c->written.name, err);          \
	if (r == 0)                                                                                \
		c->written.name = now.name;
	DRIVER_STATS(X)
#undef X
	return r;
}

static int try_write_stats(struct collector *c, struct error *err)
{
	int r = write_driver_stats(c, err);

	return r < 0 ? r : record_flush(c->record, err);
}

static bool lacks_descriptors(int code)
{
	return code == -EMFILE || code == -ENFILE;
}

static int write_stats(struct collector *c, struct error *err)
{
	int r = try_write_stats(c, err);

	if (lacks_descriptors(r)) {
		record_yield_files(c->record);
		r = try_write_stats(c, err);
	}
	c->written_at = now_s();
	return r;
}

bool collector_can_go_on(int code)
{
	return code == -ENOSPC || code == -EDQUOT || code == -EIO || code == -EROFS ||
	       lacks_descriptors(code);
}

int collector_sync(struct collector *c, bool all, struct error *err)
{
	int r = c->ops->sync(c->driver, all, err), written;

	if (r < 0)
		return r;
	record_sync(c->record, all || r > 0);
	if (r == 0 && !all && now_s() - c->written_at < STATS_PERIOD_S)
		return r;
	written = write_stats(c, err);
	return written < 0 ? written : r;
}

int collector_start(struct collector *c, struct error *err)
{
	int r;

	if (c->running)
		return 0;
	r = write_setup(c, err);
	if (r == 0 && c->ops != &driver_replay)
		record_prepare(c->record);
	if (r == 0)
		r = c->ops->start(c->driver, err);
	if (r < 0)
		return r;
	c->written_at = now_s();
	c->running = true;
	return 0;
}

int collector_stop(struct collector *c, struct error *err)
{
	int r;

	if (!c->running)
		return 0;
	c->ops->stop(c->driver);
	c->running = false;
	r = collector_sync(c, true, err);
	return MIN(r, 0);
}

int collector_fd(const struct collector *c)
{
	return c->ops->fd(c->driver);
}

bool collector_running(const struct collector *c)
{
	return c->running;
}

const struct event *collector_events(const struct collector *c, size_t *ret_count)
{
	return c->ops->events(c->driver, ret_count);
}

const char *collector_driver(const struct collector *c)
{
	return c->ops->name;
}

const char *collector_why(const struct collector *c)
{
	return c->ops->why(c->driver);
}

void collector_stats(const struct collector *c, struct driver_stats *driver,
		     struct record_stats *record)
{
	c->ops->stats(c->driver, driver);
	record_stats(c->record, record);
}

void collector_cpu_stats(const struct collector *c, unsigned int cpu, struct driver_cpu_stats *ret)
{
	*ret = (struct driver_cpu_stats){ 0 };
	if (c->ops->cpu_stats)
		c->ops->cpu_stats(c->driver, cpu, ret);
}

const struct cookie_table *collector_cookies(const struct collector *c)
{
	return c->cookies;
}

size_t collector_open_files(const struct collector *c, size_t *ret_mapped)
{
	return record_open_files(c->record, ret_mapped);
}

void collector_print_stats(const struct collector *c, FILE *out)
{
	struct driver_stats stats;

	c->ops->stats(c->driver, &stats);
	(void)fprintf(out, "-- OProfile Statistics --\n");
	record_print_stats(c->record, out);
	(void)fprintf(out, "---- Statistics of driver %s ----\n", c->ops->name);
#define X(name, text) (void)fprintf(out, "Nr. " text ": %" PRIu64 "\n", stats.name);
	DRIVER_STATS(X)
#undef X
}

int collector_reopen(struct collector *c, struct error *err)
{
	int r = write_driver_stats(c, err), closed = record_close_files(c->record, err);

	return r < 0 ? r : closed;
}

/* Puts *@driver in the place of the one that there is, with a record that suits it, and hands the
 * old one back in it. */
static int swap_driver(struct collector *c, const struct collector_config *config,
		       const struct driver_ops **ops, struct driver **driver, struct error *err)
{
	const struct driver_ops *old_ops = c->ops;
	struct driver *old_driver = c->driver;
	struct record *old_record = STEAL(c->record);
	int r;

	c->ops = *ops;
	c->driver = *driver;
	r = open_record(c, config, err);
	if (r < 0) {
		c->ops = old_ops;
		c->driver = old_driver;
		c->record = old_record;
		return r;
	}
	record_free(old_record);
	*ops = old_ops;
	*driver = old_driver;
	return 0;
}

int collector_change(struct collector *c, const struct collector_config *config, struct error *err)
{
	const struct driver_ops *ops;
	struct driver *driver;
	int r;

	if (c->running)
		return error_set(err, -EBUSY, "it samples: stop it before it is set up anew");
	if (c->tee)
		return error_set(err, -EBUSY,
				 "the event buffer is being recorded with the "
				 "settings that there were");
	record_sync(c->record, true);
	r = collector_reopen(c, err);
	if (r == 0)
		r = open_driver(c, config, &ops, &driver, err);
	if (r < 0)
		return r;
	r = swap_driver(c, config, &ops, &driver, err);
	ops->shutdown(driver);
	if (r == 0)
		c->written = (struct driver_stats){ 0 };
	return r;
}

/* Takes what was sampled so far and lets go of the session's directory. */
static int leave_session(struct collector *c, struct error *err)
{
	int r = c->running ? c->ops->sync(c->driver, false, err) : 0;

	return r < 0 ? r : collector_reopen(c, err);
}

int collector_reset(struct collector *c, struct error *err)
{
	int r = leave_session(c, err);

	if (r == 0)
		r = session_remove(c->session_dir, c->session_name, err);
	return r < 0 ? r : write_setup(c, err);
}

int collector_save(struct collector *c, const char *name, struct error *err)
{
	int r;

	if (!session_name_valid(name))
		return error_set(err, -EINVAL, "'%s' cannot be a session's name", name);
	r = leave_session(c, err);
	if (r == 0)
		r = session_rename(c->session_dir, c->session_name, name, err);
	return r < 0 ? r : write_setup(c, err);
}
