/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Implements evpfm.h for builds without libpfm4. */
#include "event/evpfm.h"

#include <errno.h>

bool evpfm_pmu_at(size_t i _unused_, struct evpfm_pmu *ret _unused_)
{
	return false;
}

bool evpfm_pmu_named(const char *name _unused_, struct evpfm_pmu *ret _unused_)
{
	return false;
}

const char *evpfm_pmu_of(const struct cpu_type *type _unused_, bool here _unused_)
{
	return NULL;
}

void evpfm_read(const char *name _unused_, struct evlist *list _unused_)
{
}

void evpfm_complete(struct catalog_event *event _unused_, struct arena *arena _unused_)
{
}

int evpfm_encode(const struct catalog_event *info, const char *masks _unused_,
		 struct event *event _unused_, struct error *err)
{
	return error_set(err, -EINVAL, "event %s: built without libpfm4", info->name);
}
