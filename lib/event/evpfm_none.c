/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evpfm.h where oprofile is built without libpfm4. */
#include "event/evpfm.h"

#include <errno.h>

bool evpfm_pmu_at(size_t i, struct evpfm_pmu *ret)
{
	(void)i;
	(void)ret;
	return false;
}

bool evpfm_pmu_named(const char *name, struct evpfm_pmu *ret)
{
	(void)name;
	(void)ret;
	return false;
}

const char *evpfm_pmu_of(const struct cpu_type *type, bool here)
{
	(void)type;
	(void)here;
	return NULL;
}

void evpfm_read(const char *name, struct evlist *list)
{
	(void)name;
	(void)list;
}

void evpfm_complete(struct catalog_event *event, struct arena *arena)
{
	(void)event;
	(void)arena;
}

int evpfm_encode(const struct catalog_event *info, const char *masks, struct event *event,
		 struct error *err)
{
	(void)masks;
	(void)event;
	return error_set(err, -EINVAL, "event %s: built without libpfm4", info->name);
}
