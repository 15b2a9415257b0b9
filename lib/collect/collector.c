/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collector.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "helper/relief.h"
#include "history/history_name.h"
#include "history/levels.h"
#include "identity/cookie.h"
#include "identity/finder.h"
#include "stream/stream_file.h"
#include "parser/parser.h"
#include "collect/stream_outlet.h"
#include "collect/internal/collector_state.h"
#include "collect/internal/spending.h"
#include "sfile/session.h"
#include "sfile/session_lock.h"
#include "sfile/setup.h"
#include "stats/turn.h"
#include "symbol/function_store.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Counters are written to stats/ at least this often, in case that the daemon is killed. */
#define STATS_PERIOD_NS (10 * NS_PER_S)
/* How often lines are kept. */
#define HOT_PERIOD_NS (2 * NS_PER_S)
enum { JIT_SHARE = 4 }; /* JIT code may take 1/N of the memory */

void collector_free(struct collector *c)
{
	struct driver_stats stats = { 0 };

	if (!c)
		return;
	if (c->intake.tee)
		c->ops->stats(c->driver, &stats);
	intake_done(&c->intake, &stats);
	finder_free(c->finder);
	cookie_table_finder(c->cookies, NULL);
	if (c->driver)
		c->ops->shutdown(STEAL(c->driver));
	spending_free(c->spending);
	quota_free(c->quota);
	record_free(c->record);
	relief_free(c->relief);
	collector_end_clearing(c);
	cookie_table_free(c->cookies);
	function_store_free(c->functions);
	hot_code_done(&c->hot);
	cleanup_closep(&c->place);
	if (c->lock >= 0)
		(void)close(c->lock);
	totals_done(&c->totals);
	free(c->session_dir);
	free(c->session_name);
	free(c->samples);
	free(c);
}

void collector_complete_drive(struct collector *c, const struct collector_config *config,
			      struct driver_config *ret)
{
	*ret = config->drive;
	ret->cookies = c->cookies;
	ret->sink = intake_words;
	ret->sink_data = &c->intake;
	ret->turn = c->turn;
	ret->cgroups = config->record.separate & RECORD_SEPARATE_CGROUP;
	ret->comms = config->record.separate & (RECORD_SEPARATE_COMM | RECORD_SEPARATE_THREAD);
}

int collector_open_driver(struct collector *c, const struct collector_config *config,
			  const struct driver_ops **ret_ops, struct driver **ret, struct error *err)
{
	struct driver_config drive;

	collector_complete_drive(c, config, &drive);
	return driver_open(config->driver, &drive, ret_ops, ret, err);
}

int collector_open_record(struct collector *c, const struct collector_config *config,
			  struct error *err)
{
	struct record_config record = config->record;
	uint64_t start, end;
	int r = 0;

	if (c->ops == &driver_replay && !record.no_vmlinux && !record.kernel_end) {
		r = stream_file_other_boot(config->drive.replay_path, err);
		if (r < 0)
			return r;
	}
	if (r > 0) {
		log_warn("%s was recorded in another boot: kernel samples will have no symbols",
			 config->drive.replay_path);
		record.no_vmlinux = true;
	}
	record.session_dir = c->session_dir;
	record.session_name = c->session_name;
	record.events = c->ops->events(c->driver, &record.event_count);
	record.derived = &config->drive.derived;
	record.cookies = c->cookies;
	record.hot = c->finder ? &c->hot : NULL;
	record.turn = c->turn;
	record.relief = c->relief;
	record.attacher = c->attacher;
	/* The processes of a recorded stream no longer run. */
	record.jit = c->ops != &driver_replay;
	/* What is replayed was sampled by somebody else; tasks keep periods that they inherit. */
	record.wanders = record.jit && config->drive.scope != DRIVER_TASK;
	/* Nor is it known when their samples were taken. */
	record.keep_ms = c->ops->taken_until_ns ? record.keep_ms : 0;
	c->has_history = record.keep_ms;
	c->upkeep.keep_ms = record.keep_ms;
	c->upkeep.idle_ms = HISTORY_IDLE_MS;
	c->upkeep.bytes_max = record.history_max;
	record.jit_bytes_max = config->quota.memory / JIT_SHARE;
	record.ops = &c->ops;
	record.driver = &c->driver;
	r = record_new(&record, &c->record, err);
	c->intake.record = c->record;
	if (r == 0 && c->ops->kernel_text && record_kernel_text(c->record, &start, &end))
		c->ops->kernel_text(c->driver, start, end);
	return r;
}

void collector_quota(const struct collector *c, struct quota_reading *ret)
{
	quota_read(c->quota, ret);
}

void collector_cost(const struct collector *c, struct governor_reading *ret)
{
	spending_read(c->spending, ret);
}

int collector_new(const struct collector_config *config, struct collector **ret, struct error *err)
{
	_cleanup_(collector_freep) struct collector *c = xcalloc(1, sizeof(*c));
	size_t count;
	int r;

	c->place = -1;
	c->session_dir = xstrdup(config->record.session_dir);
	c->session_name = xstrdup(config->record.session_name);
	c->samples = session_samples(c->session_dir, c->session_name);
	c->cookies = cookie_table_new();
	c->parser = config->parser;
	c->keeper = config->keeper;
	c->attacher = config->attacher;
	c->turn = config->turn;
	cookie_table_parser(c->cookies, c->parser);
	c->intake.cookies = c->cookies;
	r = c->lock = session_lock(c->session_dir, err);
	if (r >= 0)
		r = collector_note_mode(c, err);
	if (r >= 0 && config->opener)
		r = finder_new(config->opener, &c->finder, err);
	if (r < 0)
		return r;
	cookie_table_finder(c->cookies, c->finder);
	c->functions = function_store_new(c->session_dir, config->functions_max);
	cookie_keep_in(c->cookies, c->functions);
	collector_open_relief(c);
	r = collector_open_driver(c, config, &c->ops, &c->driver, err);
	if (r == 0)
		r = collector_open_record(c, config, err);
	if (r == 0 && config->tee_path) {
		const struct event *events = c->ops->events(c->driver, &count);

		r = stream_file_create(config->tee_path, events, count, c->cookies, &c->intake.tee,
				       err);
	}
	if (r < 0)
		return r;
	c->quota = quota_new(&config->quota, c->session_dir, c->parser);
	if (config->measures_cost)
		c->spending = spending_new(config->cpu_budget, c->parser);
	*ret = STEAL(c);
	return 0;
}

void collector_stats(const struct collector *c, struct driver_stats *driver,
		     struct record_stats *record)
{
	struct function_store_counts functions;
	struct governor_reading cost;

	c->ops->stats(c->driver, driver);
	record_stats(c->record, record);
	totals_add(&c->totals, driver, record);
	function_store_count(c->functions, &functions);
	driver->functions_kept = functions.functions_kept;
	driver->functions_put_off = functions.functions_put_off;
	driver->functions_failed = functions.functions_failed;
	driver->functions_evicted = functions.functions_evicted;
	driver->lines_kept = functions.lines_kept;
	driver->lines_put_off = functions.lines_put_off;
	driver->parser_lost = parser_lost(c->parser);
	spending_read(c->spending, &cost);
	driver->cost_ns = cost.cost_ns;
	driver->cost_of_ns = cost.cost_of_ns;
	driver->drains_late = c->turn ? c->turn->late : 0;
}

uint64_t collector_functions(const struct collector *c)
{
	struct function_store_counts functions;

	function_store_count(c->functions, &functions);
	return functions.bytes;
}

void collector_cpu_stats(const struct collector *c, unsigned int cpu, struct driver_cpu_stats *ret)
{
	*ret = (struct driver_cpu_stats){ 0 };
	if (c->ops->cpu_stats)
		c->ops->cpu_stats(c->driver, cpu, ret);
	totals_add_cpu(&c->totals, cpu, ret);
}

void collector_note_driver(struct collector *c)
{
	struct record_stats record;
	struct driver_stats now;

	collector_stats(c, &now, &record);
	totals_note(&c->totals, &now, c->record);
}

static int try_write_stats(struct collector *c, bool all, struct error *err)
{
	const char *driver = c->ops->why(c->driver);
	int r = 0;

	relief_leave(c->relief);
	if (c->setup_due)
		r = record_write_setup(c->record, driver, err);
	relief_return(c->relief);
	if (r < 0)
		return r;
	if (c->setup_due)
		collector_watch_session(c);
	c->setup_due = false;
	collector_note_driver(c);
	return record_flush(c->record, all, err);
}

static bool lacks_descriptors(int code)
{
	return code == -EMFILE || code == -ENFILE;
}

int collector_write(struct collector *c, bool all, struct error *err)
{
	int r = try_write_stats(c, all, err);

	if (lacks_descriptors(r)) {
		record_yield_files(c->record);
		r = try_write_stats(c, all, err);
	}
	c->written_ns = clock_now_ns();
	collector_note_cleared(c);
	return r;
}

bool collector_can_go_on(int code)
{
	return code == -ENOSPC || code == -EDQUOT || code == -EIO || code == -EROFS ||
	       lacks_descriptors(code);
}

int collector_drain(struct collector *c, bool all, struct error *err)
{
	int r, taken;

	c->is_drain_due = false;
	c->is_draining = true;
	intake_begin(&c->intake, c->turn && !all);
	cookie_settle(c->cookies);
	cookie_read_functions(c->cookies, !c->running);
	turn_stage(c->turn, TURN_IDENTIFY);
	r = c->ops->sync(c->driver, all, err);
	turn_stage(c->turn, TURN_DRAIN);
	c->is_draining = false;
	c->drained_ns = clock_now_ns();
	taken = intake_settle(&c->intake, !all	       ? INTAKE_SOME
					  : c->running ? INTAKE_ALL
						       : INTAKE_LAST);
	turn_stage(c->turn, TURN_AWAIT);
	return r >= 0 && taken < 0 ? error_errno(err, taken, "cannot record the samples") : r;
}

int collector_failure(struct collector *c, struct error *err)
{
	int r = c->drained.code;

	if (r < 0)
		r = error_set(err, r, "%s", c->drained.text);
	c->drained = ERROR_INIT;
	return r;
}

static void keep_lines(void *data, uint64_t cookie, const struct parser_places *hottest)
{
	cookie_keep_lines(data, cookie, hottest);
}

/* Has the lines of the code kept that was hottest in the last seconds. */
static void keep_hot_lines(struct collector *c)
{
	const uint64_t now_ns = clock_now_ns();

	if (now_ns - c->hot_ns < HOT_PERIOD_NS)
		return;
	c->hot_ns = now_ns;
	hot_code_take(&c->hot, keep_lines, c->cookies);
}

int collector_sync(struct collector *c, bool all, struct error *err)
{
	int r, written, renewed;

	r = collector_drain(c, all, err);
	if (r >= 0 && c->drained.code < 0)
		r = collector_failure(c, err);
	renewed = collector_renew_session(c, r < 0 ? NULL : err);
	r = renewed < 0 && r >= 0 ? renewed : r;
	/* If that failed, what was drained before is recorded and written all the same. */
	record_sync(c->record, all || r > 0);
	keep_hot_lines(c);
	c->has_drained = true;
	/* Also if the source has ended: some of its samples are counted when it is stopped. */
	collector_end_slice(c, !c->running ? SLICE_LAST : all ? SLICE_ON_REQUEST : SLICE_WHEN_DUE);
	collector_tend_history(c);
	parser_tell(c->parser);
	if (c->spending && c->running)
		spending_look(c->spending, c->ops, c->driver);
	if (c->running && !all)
		quota_keep(c->quota, c->record, c->ops, c->driver);
	turn_stage(c->turn, TURN_QUOTA);
	if (r <= 0 && !all && clock_now_ns() - c->written_ns < STATS_PERIOD_NS)
		return r;
	written = collector_write(c, all || r > 0, r < 0 ? NULL : err);
	return written < 0 && r >= 0 ? written : r;
}

/* Drains what the last drain left, if anything; what fails is reported by the next
 * collector_sync(). Returns whether it did. */
static bool drain_rest(struct collector *c)
{
	struct error err = ERROR_INIT;

	if (!c->is_drain_due)
		return false;
	if (c->running && collector_drain(c, false, &err) < 0)
		c->drained = err;
	return true;
}

bool collector_tend(struct collector *c)
{
	bool is_left;

	/* A turn that has drained does not do the rest, too, unless the one before did not. */
	c->is_behind = (c->has_drained || drain_rest(c)) && !c->is_behind;
	c->has_drained = false;
	if (c->is_behind)
		return true;
	intake_begin(&c->intake, true);
	is_left = intake_tend(&c->intake);
	turn_stage(c->turn, TURN_AWAIT);
	is_left |= record_tend(c->record);
	c->is_drain_due = c->running && c->ops->has_more && c->ops->has_more(c->driver);
	return is_left || c->is_drain_due;
}

bool collector_expects(const struct collector *c)
{
	return c->ops->expect != NULL;
}

void collector_expect(struct collector *c, int fd)
{
	if (c->ops->expect)
		c->ops->expect(c->driver, fd);
}

int collector_start(struct collector *c, struct error *err)
{
	int r;

	if (c->running)
		return 0;
	/* No file may be open that was removed since the last time. */
	r = collector_misses_session(c) ? collector_reopen(c, err) : 0;
	if (r == 0)
		r = record_write_setup(c->record, c->ops->why(c->driver), err);
	if (r == 0 && c->ops != &driver_replay)
		record_prepare(c->record);
	if (r < 0)
		return r;
	collector_watch_session(c);
	turn_start(c->turn);
	r = c->ops->start(c->driver, err);
	turn_stage(c->turn, TURN_START);
	if (r < 0) {
		turn_stop(c->turn);
		return r;
	}
	if (c->spending)
		spending_begin(c->spending, c->ops, c->driver);
	c->written_ns = clock_now_ns();
	c->running = c->is_sampled = true;
	collector_clear(c); /* an earlier process may have been killed in it */
	collector_begin_slice(c);
	return 0;
}

int collector_stop(struct collector *c, struct error *err)
{
	int r;

	if (!c->running)
		return 0;
	c->ops->stop(c->driver);
	c->running = false;
	turn_stop(c->turn);
	r = collector_sync(c, true, err);
	c->is_sampled = false;
	relief_leave(c->relief);
	(void)setup_end(c->samples, NULL); /* on a full disk it has no end */
	relief_return(c->relief);
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

void collector_set_outlet(struct collector *c, struct stream_outlet *outlet)
{
	/* The new reader does not know what was announced before, so it is announced again. */
	if (c->driver && c->ops->spell_out)
		c->ops->spell_out(c->driver, outlet != NULL);
	c->intake.outlet = outlet;
}

const struct cookie_table *collector_cookies(const struct collector *c)
{
	return c->cookies;
}

size_t collector_hour_memory(const struct collector *c)
{
	return record_hour_memory(c->record);
}

size_t collector_open_files(const struct collector *c, size_t *ret_mapped)
{
	return record_open_files(c->record, ret_mapped);
}

void collector_print_stats(const struct collector *c, FILE *out)
{
	struct driver_stats driver;
	struct record_stats record;

	collector_stats(c, &driver, &record);
	(void)fprintf(out, "-- OProfile Statistics --\n");
	record_print_stats(c->record, &record, out);
	(void)fprintf(out, "---- Statistics of driver %s ----\n", c->ops->name);
	totals_print_driver(&driver, out);
}
