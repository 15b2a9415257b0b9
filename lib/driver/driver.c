/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/driver.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/parse.h"

#include <errno.h>
#include <string.h>

/* The drivers; of those with @automatic the first that works is what "auto" means. "perf" works
 * wherever perf events do. */
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

int driver_parse_depth(const char *text, unsigned int *ret, struct error *err)
{
	uint64_t depth;

	if (parse_u64(text, 0, DRIVER_DEPTH_MAX, &depth) < 0)
		return error_set(err, -EINVAL, "'%s': call chains are 0 to %d deep", text,
				 DRIVER_DEPTH_MAX);
	*ret = (unsigned int)depth;
	return 0;
}

int driver_parse_unwind_bytes(const char *text, size_t *ret, struct error *err)
{
	uint64_t bytes;

	if (parse_size(text, &bytes) < 0 || bytes < DRIVER_UNWIND_MIN || bytes > DRIVER_UNWIND_MAX)
		return error_set(err, -EINVAL, "'%s': unwind tables take %dM to %dM", text,
				 DRIVER_UNWIND_MIN >> 20, DRIVER_UNWIND_MAX >> 20);
	*ret = bytes;
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
	return "auto, bpf and perf";
#else
	return "auto and perf";
#endif
}

/* Tries the drivers of "auto" in turn. */
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
		return error_set(err, -EINVAL, "no driver '%s'; there are %s", name,
				 driver_names());
	if (driver_is_auto(name))
		return open_first(config, ret_ops, ret, err);
	r = ops->setup(config, ret, err);
	if (r < 0)
		return error_prefix(err, "driver %s", name);
	*ret_ops = ops;
	return 0;
}
