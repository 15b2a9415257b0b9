/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/driver.h"

#include "base/macro.h"
#include "base/parse.h"

#include <errno.h>
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

int driver_parse_depth(const char *text, unsigned int *ret, struct error *err)
{
	uint64_t depth;

	if (parse_u64(text, 0, DRIVER_DEPTH_MAX, &depth) < 0)
		return error_set(err, -EINVAL, "'%s': call chains are 0 to %d deep", text,
				 DRIVER_DEPTH_MAX);
	*ret = (unsigned int)depth;
	return 0;
}

int driver_parse_chain_mode(const char *text, enum driver_chain_mode *ret, struct error *err)
{
	static const char *const names[] = {
#define X(name, text) [DRIVER_CHAINS_##name] = text,
		DRIVER_CHAINS(X)
#undef X
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], text))
			continue;
		*ret = (enum driver_chain_mode)i;
		return 0;
	}
	return error_set(err, -EINVAL, "'%s': call chains are taken by auto, fp or table", text);
}

const struct driver_ops *driver_find(const char *name)
{
	bool automatic = !name || !strcmp(name, "auto");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		if (automatic ? drivers[i].automatic : !strcmp(drivers[i].ops->name, name))
			return drivers[i].ops;
	return NULL;
}
