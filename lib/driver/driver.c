/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/driver.h"

#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>

/* The drivers. "auto" means the first with @automatic that works. "perf" works wherever perf events
 * do. */
static const struct {
	const struct driver_ops *ops;
	bool automatic;
} drivers[] = {
#ifdef HAVE_BPF
	{ &driver_bpf, true },
#endif
	{ &driver_perf, true },
	{ &driver_replay, false },
};

bool driver_is_auto(const char *name)
{
	return !name || !strcmp(name, "auto");
}

const struct driver_ops *driver_find(const char *name)
{
	bool automatic = driver_is_auto(name);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		if (automatic ? drivers[i].automatic : !strcmp(drivers[i].ops->name, name))
			return drivers[i].ops;
	return NULL;
}

const char *driver_names(void)
{
#ifdef HAVE_BPF
	return "auto, bpf, perf";
#else
	return "auto, perf";
#endif
}

/* Tries the automatic drivers in order. */
static int open_first(const struct driver_config *config, const struct driver_ops **ret_ops,
		      struct driver **ret, struct error *err)
{
	_cleanup_free_ char *instead = NULL;
	struct driver_config with = *config;
	size_t i;
	int r = -ENOTSUP;

	for (i = 0; i < ARRAY_SIZE(drivers) && r < 0; i++) {
		struct error why = ERROR_INIT;

		if (!drivers[i].automatic)
			continue;
		r = drivers[i].ops->setup(&with, ret, &why);
		if (r == 0) {
			*ret_ops = drivers[i].ops;
			break;
		}
		(void)error_set(err, r, "%s", why.text);
		free(instead);
		instead = xasprintf("not %s: %s", drivers[i].ops->name, why.text);
		log_debug("%s", instead);
		with.instead = instead;
	}
	return r;
}

int driver_open(const char *name, const struct driver_config *config,
		const struct driver_ops **ret_ops, struct driver **ret, struct error *err)
{
	const struct driver_ops *ops = driver_find(name);
	int r;

	if (!ops)
		return error_set(err, -EINVAL, "no driver '%s'; available: %s", name,
				 driver_names());
	if (driver_is_auto(name))
		return open_first(config, ret_ops, ret, err);
	r = ops->setup(config, ret, err);
	if (r < 0)
		return error_prefix(err, "driver %s", name);
	*ret_ops = ops;
	return 0;
}
