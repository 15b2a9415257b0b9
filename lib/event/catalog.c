/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/catalog.h"

#include "base/macro.h"
#include "base/text.h"
#include "event/cpu_type.h"

#include <ctype.h>
#include <linux/perf_event.h>
#include <string.h>

/* Unit masks of AMD's data cache events, family 15h and after. */
static const struct catalog_mask dc_miss_masks[] = {
	{ 0x01, "First data cache miss or streaming store to a 64B cache line" },
	{ 0x02, "First streaming store to a 64B cache line" },
};

static const struct catalog_mask dc_refill_masks[] = {
	{ 0x01, "Fill with good data" },
	{ 0x02, "Early valid status turned out to be invalid" },
	{ 0x08, "Fill with read data error" },
};

#define COUNTER(name_, text, code_, min, usual, config)                                            \
	{                                                                                          \
		.name = name_, .description = text, .kind = CATALOG_COUNTER, .cpus = "",           \
		.code = code_, .minimum = min, .count = usual, .perf_type = PERF_TYPE_HARDWARE,    \
		.perf_config = PERF_COUNT_HW_##config                                              \
	}
#define SOFTWARE(name_, text, min, usual, config)                                                  \
	{                                                                                          \
		.name = name_, .description = text, .kind = CATALOG_SOFTWARE, .cpus = "",          \
		.code = 0xe000 + PERF_COUNT_SW_##config, .minimum = min, .count = usual,           \
		.perf_type = PERF_TYPE_SOFTWARE, .perf_config = PERF_COUNT_SW_##config             \
	}
#define AMD_DATA_CACHE(name_, text, code_, min, usual, masks_)                                     \
	{                                                                                          \
		.name = name_, .description = text, .kind = CATALOG_COUNTER, .cpus = "x86-64/",    \
		.code = code_, .minimum = min, .count = usual, .perf_type = PERF_TYPE_RAW,         \
		.perf_config = code_, .bitmask = true, .default_mask = 0x01, .masks = masks_,      \
		.mask_count = ARRAY_SIZE(masks_)                                                   \
	}

/* Hardware events go by the kernel's generic ones, which every PMU's driver translates. */
static const struct catalog_event events[] = {
	COUNTER("CPU_CLK_UNHALTED", "CPU Clocks not Halted", 0x76, 50000, 100000, CPU_CYCLES),
	COUNTER("CPU_CYCLES", "CPU cycles", 0x11, 50000, 100000, CPU_CYCLES),
	COUNTER("CYCLES", "CPU cycles", 0x1e, 50000, 100000, CPU_CYCLES),
	COUNTER("INST_RETIRED", "Instructions retired", 0xc0, 50000, 500000, INSTRUCTIONS),
	COUNTER("RETIRED_INSTRUCTIONS", "Retired Instructions", 0xc0, 50000, 500000, INSTRUCTIONS),
	COUNTER("LLC_REFS", "References of the last level cache", 0x4f2e, 6000, 100000,
		CACHE_REFERENCES),
	COUNTER("LLC_MISSES", "Misses of the last level cache", 0x412e, 6000, 100000, CACHE_MISSES),
	COUNTER("BR_INST_RETIRED", "Branch instructions retired", 0xc4, 6000, 100000,
		BRANCH_INSTRUCTIONS),
	COUNTER("BR_MISS_PRED_RETIRED", "Mispredicted branches retired", 0xc5, 6000, 100000,
		BRANCH_MISSES),
	AMD_DATA_CACHE("DATA_CACHE_MISSES", "Data Cache Misses", 0x41, 5000, 250000, dc_miss_masks),
	AMD_DATA_CACHE("DATA_CACHE_REFILLS_FROM_L2_OR_NORTHBRIDGE",
		       "Data Cache Refills from L2 or System", 0x42, 5000, 300000, dc_refill_masks),
	SOFTWARE("TASK_CLOCK", "Nanoseconds of CPU time of a task", 20000, 1000000, TASK_CLOCK),
	SOFTWARE("PAGE_FAULTS", "Page faults", 1, 100, PAGE_FAULTS),
	SOFTWARE("PAGE_FAULTS_MIN", "Page faults served without reading", 1, 100, PAGE_FAULTS_MIN),
	SOFTWARE("PAGE_FAULTS_MAJ", "Page faults that had to read", 1, 1, PAGE_FAULTS_MAJ),
	SOFTWARE("CONTEXT_SWITCHES", "Switches to another task", 1, 100, CONTEXT_SWITCHES),
	SOFTWARE("CPU_MIGRATIONS", "Moves of a task to another CPU", 1, 10, CPU_MIGRATIONS),
	SOFTWARE("ALIGNMENT_FAULTS", "Unaligned accesses mended by the kernel", 1, 100,
		 ALIGNMENT_FAULTS),
	SOFTWARE("EMULATION_FAULTS", "Instructions emulated by the kernel", 1, 100,
		 EMULATION_FAULTS),
	{
		.name = "TIMER",
		.description = "The clock, idle time left out",
		.kind = CATALOG_TIMER,
		.cpus = "",
		.perf_type = PERF_TYPE_SOFTWARE,
		.perf_config = PERF_COUNT_SW_CPU_CLOCK,
	},
};

size_t catalog_count(void)
{
	return ARRAY_SIZE(events);
}

const struct catalog_event *catalog_at(size_t i)
{
	assert(i < ARRAY_SIZE(events));
	return &events[i];
}

const struct catalog_event *catalog_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (!strcmp(events[i].name, name))
			return &events[i];
	return NULL;
}

const struct catalog_event *catalog_nearest(const char *name)
{
	const struct catalog_event *nearest = NULL;
	unsigned int distance, least = (unsigned int)strlen(name) / 2 + 1;
	char upper[64];
	size_t i;

	for (i = 0; i < sizeof(upper) - 1 && name[i]; i++)
		upper[i] = name[i] == '-' ? '_' : (char)toupper((unsigned char)name[i]);
	upper[i] = '\0';
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		distance = text_distance(upper, events[i].name);
		if (distance < least) {
			nearest = &events[i];
			least = distance;
		}
	}
	return nearest;
}

static bool key_starts(const struct cpu_type *type, const char *start)
{
	return !strncmp(type->key, start, strlen(start));
}

bool catalog_on_cpu(const struct catalog_event *event, const struct cpu_type *type)
{
	return key_starts(type, event->cpus);
}

const struct catalog_event *catalog_default(const struct cpu_type *type)
{
	static const struct {
		const char *cpus, *name;
	} defaults[] = {
		{ "arm/", "CPU_CYCLES" },
		{ "s390/", "CPU_CYCLES" },
		{ "ppc", "CYCLES" },
		{ "", "CPU_CLK_UNHALTED" },
	};
	size_t i = 0;

	while (!key_starts(type, defaults[i].cpus))
		i++;
	return catalog_find(defaults[i].name);
}

uint32_t catalog_code(const struct catalog_event *event, const struct cpu_type *type)
{
	enum { INTEL_CPU_CLK_UNHALTED = 0x3c };

	if (key_starts(type, "i386/") && !strcmp(event->name, "CPU_CLK_UNHALTED"))
		return INTEL_CPU_CLK_UNHALTED;
	return event->code;
}

bool catalog_mask_valid(const struct catalog_event *event, uint64_t mask)
{
	uint64_t all = 0;
	size_t i;

	if (!event->masks)
		return mask == 0;
	for (i = 0; i < event->mask_count; i++) {
		if (event->masks[i].value == mask)
			return true;
		all |= event->masks[i].value;
	}
	return event->bitmask && mask && !(mask & ~all);
}

const char *catalog_mask_text(const struct catalog_event *event, uint64_t mask)
{
	size_t i;

	if (!event->masks && !mask)
		return "No unit mask";
	for (i = 0; i < event->mask_count; i++)
		if (event->masks[i].value == mask)
			return event->masks[i].description;
	return catalog_mask_valid(event, mask) ? "multiple flags" : "unknown unit mask";
}
