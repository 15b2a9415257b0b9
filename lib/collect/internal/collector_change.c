/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/internal/collector_state.h"

#include "collect/collector.h"
#include "symbol/function_store.h"

#include <errno.h>

/* Replaces the driver by a new one. */
static int renew_driver(struct collector *c, const struct collector_config *config,
			struct error *err)
{
	const struct driver_ops *ops;
	struct driver *driver;
	int r = collector_open_driver(c, config, &ops, &driver, err);

	if (r < 0)
		return r;
	totals_keep_driver(&c->totals, c->ops, c->driver);
	c->ops->shutdown(c->driver);
	c->ops = ops;
	c->driver = driver;
	if (c->intake.outlet)
		collector_set_outlet(c, c->intake.outlet);
	return 0;
}

/* If no BPF program may be loaded any more, "auto" means the driver that needs none. */
static int renew_without_loading(struct collector *c, const struct collector_config *config,
				 struct error *err)
{
	struct collector_config other = *config;

	if (driver_is_auto(config->driver)) {
		other.driver = driver_perf.name;
		other.drive.instead =
			"not bpf: the confined daemon (seccomp) cannot load another BPF program";
	}
	/* ->change() would have succeeded if the program could stay the same. */
	if (driver_find(other.driver)->change)
		return error_set(err, -EPERM,
				 "the daemon can no longer load BPF programs (seccomp); restart it "
				 "with these settings, or with --no-seccomp");
	return renew_driver(c, &other, err);
}

static int change_driver(struct collector *c, const struct collector_config *config, bool may_load,
			 struct error *err)
{
	struct driver_config drive;
	int r = -ENOTSUP;

	collector_complete_drive(c, config, &drive);
	if (c->ops->change)
		r = c->ops->change(c->driver, &drive, err);
	if (r != -ENOTSUP)
		return r;
	return may_load ? renew_driver(c, config, err) : renew_without_loading(c, config, err);
}

int collector_change(struct collector *c, const struct collector_config *config, bool may_load,
		     struct error *err)
{
	struct record *old;
	int r;

	if (c->running)
		return error_set(err, -EBUSY,
				 "settings cannot change while sampling; stop it first");
	if (c->intake.tee)
		return error_set(
			err, -EBUSY,
			"settings cannot change while the event buffer is recorded (--tee)");
	record_sync(c->record, true);
	r = collector_reopen(c, err);
	if (r == 0)
		r = change_driver(c, config, may_load, err);
	if (r < 0)
		return r;
	old = c->record;
	r = collector_open_record(c, config, err);
	if (r < 0)
		return r;
	totals_keep_record(&c->totals, old);
	record_free(old);
	function_store_set_limit(c->functions, config->functions_max);
	return 0;
}
