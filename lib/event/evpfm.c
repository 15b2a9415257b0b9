/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/evpfm.h"

#include "base/log.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "event/cpu_type.h"
#include "event/event_types.h"
#include "event/internal/evlist.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USUAL_COUNT = 100000, USUAL_MINIMUM = 500 };

/* The PMU of each CPU type that libpfm4 knows; if several match, the most common one. */
static const struct {
	const char *key, *pmu;
} type_pmus[] = {
	{ "i386/ppro", "ppro" },
	{ "i386/pii", "pii" },
	{ "i386/piii", "p3" },
	{ "i386/p6_mobile", "pm" },
	{ "i386/athlon", "amd64_k7" },
	{ "i386/p4", "netburst" },
	{ "i386/p4-ht", "netburst_p" },
	{ "i386/core", "coreduo" },
	{ "i386/core_2", "core" },
	{ "i386/atom", "atom" },
	{ "i386/core_i7", "nhm" },
	{ "i386/nehalem", "nhm" },
	{ "i386/westmere", "wsm" },
	{ "i386/sandybridge", "snb" },
	{ "i386/ivybridge", "ivb" },
	{ "i386/haswell", "hsw" },
	{ "i386/broadwell", "bdw" },
	{ "i386/skylake", "skl" },
	{ "i386/cometlake", "skl" },
	{ "i386/icelake", "icl" },
	{ "i386/rocketlake", "icl" },
	{ "i386/tigerlake", "icl" },
	{ "i386/icelake-x", "icx" },
	{ "i386/sapphirerapids", "spr" },
	{ "i386/emeraldrapids", "spr" },
	{ "i386/silvermont", "slm" },
	{ "i386/goldmont", "glm" },
	{ "i386/goldmontplus", "glm" },
	{ "i386/tremont", "tmt" },
	{ "i386/knightslanding", "knl" },
	{ "x86-64/hammer", "amd64_k8_revg" },
	{ "x86-64/family10", "amd64_fam10h_barcelona" },
	{ "x86-64/family11h", "amd64_fam11h_turion" },
	{ "x86-64/family12h", "amd64_fam12h_llano" },
	{ "x86-64/family14h", "amd64_fam14h_bobcat" },
	{ "x86-64/family15h", "amd64_fam15h_interlagos" },
	{ "x86-64/family16h", "amd64_fam16h" },
	{ "x86-64/zen1", "amd64_fam17h_zen1" },
	{ "x86-64/zen2", "amd64_fam17h_zen2" },
	{ "x86-64/zen3", "amd64_fam19h_zen3" },
	{ "x86-64/zen4", "amd64_fam19h_zen4" },
	{ "arm/armv7", "arm_ac8" },
	{ "arm/armv7-ca9", "arm_ac9" },
	{ "arm/armv7-ca15", "arm_ac15" },
	{ "arm/armv8-ca53", "arm_ac53" },
	{ "arm/armv8-ca57", "arm_ac57" },
	{ "arm/armv8-ca72", "arm_ac72" },
	{ "arm/armv8-ca76", "arm_ac76" },
	{ "arm/armv8-xgene", "arm_xgene" },
	{ "arm/armv8-thunderx2", "arm_thunderx2" },
	{ "arm/armv8-neoverse-n1", "arm_n1" },
	{ "arm/armv8-neoverse-n2", "arm_n2" },
	{ "arm/armv8-neoverse-v1", "arm_v1" },
	{ "arm/armv8-neoverse-v2", "arm_v2" },
	{ "arm/armv8-a64fx", "arm_a64fx" },
	{ "arm/armv8-kunpeng920", "arm_kunpeng" },
	{ "ppc64/970", "ppc970" },
	{ "ppc64/970MP", "ppc970mp" },
	{ "ppc64/power4", "power4" },
	{ "ppc64/power5", "power5" },
	{ "ppc64/power5+", "power5p" },
	{ "ppc64/power6", "power6" },
	{ "ppc64/power7", "power7" },
	{ "ppc64/power8", "power8" },
	{ "ppc64/power9", "power9" },
	{ "ppc64/power10", "power10" },
};

/* libpfm4's PMU "perf" looks here for tracepoints; libpfm4 4.13 crashes if the file can be opened
 * but not read. */
static const char mounts[] = "/proc/mounts";

static bool can_read_mounts(void)
{
	_cleanup_close_ int fd = open(mounts, O_RDONLY | O_CLOEXEC);
	char byte;

	return fd < 0 || read(fd, &byte, 1) >= 0;
}

/* The library encodes events of other CPUs only if that is requested before initialization. */
static bool ready;

static void initialize(void)
{
	(void)setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (!can_read_mounts()) {
		log_warn("cannot read %s: the events of pfm/perf are not listed", mounts);
		(void)setenv("LIBPFM_DISABLED_PMUS", "perf", 1);
	}
	ready = pfm_initialize() == PFM_SUCCESS;
}

static bool is_ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, initialize);
	return ready;
}

/* Gets the PMU with the library's own number; these numbers have gaps. */
static bool get_info(int pmu, pfm_pmu_info_t *ret)
{
	*ret = (pfm_pmu_info_t){ .size = sizeof(*ret) };
	return pfm_get_pmu_info((pfm_pmu_t)pmu, ret) == PFM_SUCCESS;
}

static void describe(const pfm_pmu_info_t *info, struct evpfm_pmu *ret)
{
	*ret = (struct evpfm_pmu){ .name = info->name,
				   .description = info->desc,
				   .core = info->type == PFM_PMU_TYPE_CORE,
				   .present = info->is_present,
				   .events = (size_t)info->nevents };
}

bool evpfm_pmu_at(size_t i, struct evpfm_pmu *ret)
{
	pfm_pmu_info_t info;
	int pmu;

	for (pmu = PFM_PMU_NONE; is_ready() && pmu < PFM_PMU_MAX; pmu++) {
		if (!get_info(pmu, &info) || i--)
			continue;
		describe(&info, ret);
		return true;
	}
	return false;
}

static bool find(const char *name, pfm_pmu_info_t *ret)
{
	int pmu;

	for (pmu = PFM_PMU_NONE; is_ready() && pmu < PFM_PMU_MAX; pmu++)
		if (get_info(pmu, ret) && !strcmp(ret->name, name))
			return true;
	return false;
}

bool evpfm_pmu_named(const char *name, struct evpfm_pmu *ret)
{
	pfm_pmu_info_t info;

	if (!find(name, &info))
		return false;
	describe(&info, ret);
	return true;
}

/* Returns the core PMU in this machine, such as "skx": it is more specific than the one for the CPU
 * type, "skl". */
static const char *present_pmu(void)
{
	pfm_pmu_info_t info;
	int pmu;

	for (pmu = PFM_PMU_NONE; pmu < PFM_PMU_MAX; pmu++)
		if (get_info(pmu, &info) && info.is_present && info.type == PFM_PMU_TYPE_CORE &&
		    info.nevents && pmu != PFM_PMU_INTEL_X86_ARCH)
			return info.name;
	return NULL;
}

const char *evpfm_pmu_of(const struct cpu_type *type, bool here)
{
	const char *present = here && is_ready() ? present_pmu() : NULL;
	pfm_pmu_info_t info;
	size_t i;

	if (present)
		return present;
	for (i = 0; i < ARRAY_SIZE(type_pmus); i++)
		if (!strcmp(type_pmus[i].key, type->key))
			return find(type_pmus[i].pmu, &info) ? info.name : NULL;
	return NULL;
}

/* Folds a mask's code, which can have 64 bits, into the 32 bits that sample files have. */
static uint32_t fold(uint64_t code)
{
	return (uint32_t)(code ^ code >> 32);
}

/* Returns the mask's code. For the Pentium 4 the library has the number of the mask's bit. */
static uint64_t code_of(const struct catalog_event *e, uint64_t code)
{
	return strncmp(e->pfm, "netburst", strlen("netburst")) ? code : 1ULL << (code & 63);
}

/* Reads the masks into a growing array. Unit masks come before the modifiers. Getting an attribute
 * costs the library time proportional to its index, so each is requested only once. */
static void read_masks(int number, struct catalog_mask **masks, struct catalog_event *e)
{
	pfm_event_attr_info_t attr = { .size = sizeof(attr) };
	uint64_t all = 0, single = 0;
	struct catalog_mask *mask;
	size_t room = 0;
	uint64_t code;
	int i;

	for (i = 0; pfm_get_event_attr_info(number, i, PFM_OS_NONE, &attr) == PFM_SUCCESS &&
		    attr.type == PFM_ATTR_UMASK;
	     i++) {
		array_grow(masks, e->mask_count + 1, &room);
		mask = &(*masks)[e->mask_count++];
		code = code_of(e, attr.code);
		*mask = (struct catalog_mask){ .value = fold(code),
					       .description = attr.desc,
					       .name = attr.name };
		e->default_mask |= attr.is_dfl ? mask->value : 0;
		all |= code;
		single |= __builtin_popcountll(code) == 1 ? code : 0;
	}
	/* Masks can be combined only if each is a single bit: otherwise a sum would be
	 * ambiguous. */
	e->bitmask = all == single && all <= UINT32_MAX && __builtin_popcountll(all) > 1;
}

void evpfm_complete(struct catalog_event *event, struct arena *arena)
{
	_cleanup_free_ struct catalog_mask *masks = NULL;
	size_t size;

	if (!event->late)
		return;
	read_masks(event->late, &masks, event);
	event->late = 0;
	size = event->mask_count * sizeof(*masks);
	if (!size)
		return;
	event->masks = memcpy(arena_alloc(arena, size), masks, size);
	if (!catalog_mask_valid(event, event->default_mask))
		event->default_mask = event->masks[0].value;
}

/* Returns the general-purpose counters; the library does not report which of them an event is
 * restricted to. */
static uint64_t counters_of(const pfm_pmu_info_t *pmu)
{
	return pmu->num_cntrs > 0 && pmu->num_cntrs < 64 ? (1ULL << pmu->num_cntrs) - 1
							 : UINT64_MAX;
}

void evpfm_read(const char *name, struct evlist *list)
{
	pfm_event_info_t info;
	pfm_pmu_info_t pmu;
	int i;

	if (!find(name, &pmu))
		return;
	for (i = pmu.first_event; i != -1; i = pfm_get_event_next(i)) {
		struct catalog_event e = { .kind = CATALOG_COUNTER,
					   .minimum = USUAL_MINIMUM,
					   .count = USUAL_COUNT,
					   .perf_type = PERF_TYPE_RAW,
					   .counters = counters_of(&pmu),
					   .pfm = pmu.name,
					   .late = i };

		info = (pfm_event_info_t){ .size = sizeof(info) };
		if (pfm_get_event_info(i, PFM_OS_NONE, &info) != PFM_SUCCESS ||
		    strlen(info.name) >= EVENT_NAME_MAX)
			continue;
		e.name = info.name;
		e.description = info.desc;
		e.code = (uint32_t)(info.code & INT32_MAX);
		e.perf_config = info.code;
		(void)evlist_add(list, &e);
	}
}

/* Returns libpfm4's notation, "skx::BR_INST_RETIRED:CONDITIONAL:NEAR_CALL"; the caller frees it. */
static char *library_spec(const struct catalog_event *info, const char *masks)
{
	char *spec = xasprintf("%s::%s%s%s", info->pfm, info->name, *masks ? ":" : "", masks), *at;

	for (at = spec + strlen(spec) - strlen(masks); *at; at++)
		if (*at == '+')
			*at = ':';
	return spec;
}

int evpfm_encode(const struct catalog_event *info, const char *masks, struct event *event,
		 struct error *err)
{
	_cleanup_free_ char *spec = library_spec(info, masks);
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_perf_encode_arg_t perf = { .attr = &attr, .size = sizeof(perf) };
	pfm_pmu_encode_arg_t bare = { .size = sizeof(bare) };
	int r;

	if (!is_ready())
		return error_set(err, -EINVAL, "event %s: libpfm4 is not installed", info->name);
	r = pfm_get_os_event_encoding(spec, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &perf);
	if (r == PFM_SUCCESS) {
		event->perf_type = attr.type;
		event->perf_config = attr.config;
		event->perf_config1 = attr.config1;
		event->perf_config2 = attr.config2;
		event->precise = MAX(event->precise, (uint8_t)attr.precise_ip);
		return 0;
	}
	/* PMUs outside the cores that are not present have no perf type number in the kernel. */
	if (r == PFM_ERR_NOTSUPP)
		r = pfm_get_os_event_encoding(spec, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &bare);
	if (r != PFM_SUCCESS)
		return error_set(err, -EINVAL, "event %s: libpfm4: %s", info->name,
				 pfm_strerror(r));
	event->perf_type = PERF_TYPE_RAW;
	event->perf_config = bare.count > 0 ? bare.codes[0] : 0;
	event->perf_config1 = bare.count > 1 ? bare.codes[1] : 0;
	free(bare.codes);
	return 0;
}
