/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/driver.h"

#include "base/macro.h"

#include <string.h>

/* The drivers; of those with @automatic the first is what "auto" means. A driver that runs in the
 * kernel belongs before "perf", which works wherever perf events do. */
static const struct {
	const struct driver_ops *ops;
	bool automatic;
} drivers[] = {
	{ &driver_perf, true },
	{ &driver_replay, false },
};

const struct driver_ops *driver_find(const char *name)
{
	bool automatic = !name || !strcmp(name, "auto");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		if (automatic ? drivers[i].automatic : !strcmp(drivers[i].ops->name, name))
			return drivers[i].ops;
	return NULL;
}
