/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/internal/evname.h"

#include "base/macro.h"
#include "event/cpu_type.h"

#include <string.h>

#define AMD "x86-64/hammer x86-64/family1"

/* Names of OProfile 1.x that libpfm4 does not have, with their codes, by which its events are
 * found. The CPU types are named by the starts of their keys. */
static const struct {
	const char *cpus, *old;
	uint32_t code;
} renamed[] = {
	{ "i386/core_2", "BR_BOGUS", 0xe4 },
	{ "i386/core_2", "BUS_REQ_OUTSTANDING", 0x60 },
	{ "i386/core_2", "BUS_TRAN_ANY", 0x70 },
	{ "i386/core_2", "BUS_TRAN_BRD", 0x65 },
	{ "i386/core_2", "BUS_TRAN_BURST", 0x6e },
	{ "i386/core_2", "BUS_TRAN_IFETCH", 0x68 },
	{ "i386/core_2", "BUS_TRAN_INVAL", 0x69 },
	{ "i386/core_2", "BUS_TRAN_MEM", 0x6f },
	{ "i386/core_2", "BUS_TRAN_PWR", 0x6a },
	{ "i386/core_2", "BUS_TRAN_RFO", 0x66 },
	{ "i386/core_2", "BUS_TRAN_WB", 0x67 },
	{ "i386/core_2", "EIST_TRANS_ALL", 0x3a },
	{ "i386/core_2", "FLOPS", 0x10 },
	{ "i386/core_2", "IFU_MEM_STALL", 0x86 },
	{ "i386/core_2", "MMX_ASSIST", 0xcd },
	{ "i386/core_2", "SEG_RENAMES", 0xd5 },
	{ "i386/core_2", "SIMD_INSTR_RET", 0xce },
	{ "i386/core_2", "SIMD_SAT_INSTR_RET", 0xcf },
	{ "i386/core_2", "SSE_PREF_MISS", 0x4b },
	{ "i386/core_i7 i386/nehalem", "MEMORY_DISAMBIGURATION", 0x9 },
	{ "i386/core_i7 i386/nehalem", "OOF_CORE_RESPONSE_0", 0xb7 },
	{ AMD, "1_BIT_ECC_ERRORS", 0x4a },
	{ AMD, "CACHE_BLOCK_COMMANDS", 0xea },
	{ AMD, "CANCELLED_STORE_TO_LOAD", 0x2a },
	{ AMD, "CPU_COMMAND_LATENCY_TARGET", 0x1e6 },
	{ AMD, "CPU_DRAM_REQUEST_TO_NODE", 0x1e0 },
	{ AMD, "CPU_READ_COMMAND_LATENCY_NODE_0_3", 0x1e2 },
	{ AMD, "CPU_READ_COMMAND_LATENCY_NODE_4_7", 0x1e4 },
	{ AMD, "CPU_READ_COMMAND_REQUEST_NODE_0_3", 0x1e3 },
	{ AMD, "CPU_READ_COMMAND_REQUEST_NODE_4_7", 0x1e5 },
	{ AMD, "CPU_REQUEST_TARGET", 0x1e7 },
	{ AMD, "CYCLES_FPU_EMPTY", 0x1 },
	{ AMD, "DATA_CACHE_REFILLS_FROM_L2_OR_SYSTEM", 0x42 },
	{ AMD, "DATA_CACHE_REFILLS_FROM_NORTHBRIDGE", 0x43 },
	{ AMD, "DISPATCHED_FPU_OPS", 0x0 },
	{ AMD, "DISPATCH_STALL_FOR_FAR_TRANSFER_OR_RESYNC", 0xda },
	{ AMD, "DR0_BREAKPOINTS", 0xdc },
	{ AMD, "DR1_BREAKPOINTS", 0xdd },
	{ AMD, "DR2_BREAKPOINTS", 0xde },
	{ AMD, "DR3_BREAKPOINTS", 0xdf },
	{ AMD, "DRAM_ACCESSES", 0xe0 },
	{ AMD, "EXECUTED_CFLUSH_INST", 0x30 },
	{ AMD, "GART_EVENTS", 0xee },
	{ AMD, "HYPERTRANSPORT_LINK0_TRANSMIT_BANDWIDTH", 0xf6 },
	{ AMD, "HYPERTRANSPORT_LINK1_TRANSMIT_BANDWIDTH", 0xf7 },
	{ AMD, "HYPERTRANSPORT_LINK2_TRANSMIT_BANDWIDTH", 0xf8 },
	{ AMD, "HYPERTRANSPORT_LINK3_TRANSMIT_BANDWIDTH", 0x1f9 },
	{ AMD, "IBS_OPS_TAGGED", 0x1cf },
	{ AMD, "INSTRUCTION_CACHE_INVALIDATED", 0x8c },
	{ AMD, "IO_DRAM_REQUEST_TO_NODE", 0x1e1 },
	{ AMD, "L2_CACHE_FILL_WRITEBACK", 0x7f },
	{ AMD, "L2_PREFETCHER_TRIGGER", 0x16c },
	{ AMD, "LFENCE_INSTRUCTIONS_RETIRED", 0x1d3 },
	{ AMD, "LOCKED_INSTRUCTIONS_DCACHE_MISSES", 0x4c },
	{ AMD, "MAB_REQS", 0x68 },
	{ AMD, "MAB_WAIT", 0x69 },
	{ AMD, "MEMORY_CONTROLLER_BYPASS_COUNTER_SATURATION", 0xe4 },
	{ AMD, "MEMORY_CONTROLLER_SLOT_MISSED", 0xe2 },
	{ AMD, "MFENCE_INSTRUCTIONS_RETIRED", 0x1d5 },
	{ AMD, "MICRO_ARCH_EARLY_CANCEL_ACCESS", 0x49 },
	{ AMD, "MICRO_ARCH_LATE_CANCEL_ACCESS", 0x48 },
	{ AMD, "NORTHBRIDGE_READ_RESPONSES", 0x6c },
	{ AMD, "OCTWORD_WRITE_TRANSFERS", 0x6d },
	{ AMD, "PAGE_SIZE_MISMATCHES", 0x165 },
	{ AMD, "PROBE_RESPONSES_AND_UPSTREAM_REQUESTS", 0xec },
	{ AMD, "QUADWORD_WRITE_TRANSFERS", 0x6d },
	{ AMD, "RETIRED_MMX_FP_INSTRUCTIONS", 0xcb },
	{ AMD, "RETIRED_SSE_OPS", 0x3 },
	{ AMD, "RETIRED_X87_FLOATING_POINT_OPERATIONS", 0x1c0 },
	{ AMD, "SERIAL_UOPS_IN_FP_SCHED", 0x6 },
	{ AMD, "SFENCE_INSTRUCTIONS_RETIRED", 0x1d4 },
	{ AMD, "THERMAL_STATUS", 0xe8 },
};

/* What perf(1) and the kernel call these events. */
static const struct {
	const char *perf, *name;
} perf_names[] = {
	{ "cycles", "CPU_CLK_UNHALTED" },
	{ "cpu-cycles", "CPU_CLK_UNHALTED" },
	{ "instructions", "INST_RETIRED" },
	{ "cache-references", "LLC_REFS" },
	{ "cache-misses", "LLC_MISSES" },
	{ "branches", "BR_INST_RETIRED" },
	{ "branch-instructions", "BR_INST_RETIRED" },
	{ "branch-misses", "BR_MISS_PRED_RETIRED" },
	{ "cpu-clock", "TIMER" },
	{ "task-clock", "TASK_CLOCK" },
	{ "page-faults", "PAGE_FAULTS" },
	{ "faults", "PAGE_FAULTS" },
	{ "minor-faults", "PAGE_FAULTS_MIN" },
	{ "major-faults", "PAGE_FAULTS_MAJ" },
	{ "context-switches", "CONTEXT_SWITCHES" },
	{ "cs", "CONTEXT_SWITCHES" },
	{ "cpu-migrations", "CPU_MIGRATIONS" },
	{ "migrations", "CPU_MIGRATIONS" },
	{ "alignment-faults", "ALIGNMENT_FAULTS" },
	{ "emulation-faults", "EMULATION_FAULTS" },
};

static bool as_in_perf(const struct catalog *c, const char *name, struct evname *ret)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(perf_names) && !ret->event; i++)
		if (!strcmp(perf_names[i].perf, name))
			ret->event = catalog_event_find(c, perf_names[i].name);
	return ret->event;
}

static bool is_one_of(const char *starts, const char *key)
{
	size_t length = strcspn(starts, " ");

	return !strncmp(starts, key, length) ||
	       (starts[length] && is_one_of(starts + length + 1, key));
}

/* Finds libpfm4's event with this code. Intel's codes can have a unit mask in the second byte;
 * AMD's have 12 bits. */
static const struct catalog_event *with_code(const struct catalog *c, uint32_t code)
{
	uint32_t bits = strncmp(catalog_type(c)->key, "i386/", 5) ? UINT32_MAX : 0xff;
	const struct catalog_event *event;
	size_t i;

	for (i = 0; i < catalog_size(c); i++) {
		event = catalog_event_peek(c, i);
		if (event->pfm && (event->code & bits) == code)
			return catalog_event_at(c, i);
	}
	return NULL;
}

static bool since_renamed(const struct catalog *c, const char *name, struct evname *ret)
{
	const char *key = catalog_type(c)->key;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(renamed) && !ret->event; i++)
		if (is_one_of(renamed[i].cpus, key) && !strcmp(renamed[i].old, name))
			ret->event = with_code(c, renamed[i].code);
	return ret->event;
}

static bool in_any_case(const struct catalog *c, const char *name, struct evname *ret)
{
	size_t i;

	for (i = 0; i < catalog_size(c); i++) {
		if (strcasecmp(catalog_event_peek(c, i)->name, name) != 0)
			continue;
		*ret = (struct evname){ .event = catalog_event_at(c, i) };
		return true;
	}
	return false;
}

/* Finds an event and a mask from "EVENT_MASK" or "EVENT.MASK". */
static bool with_mask(const struct catalog *c, const char *name, struct evname *ret)
{
	const struct catalog_event *event;
	const struct catalog_mask *mask;
	size_t i, length;

	for (i = 0; i < catalog_size(c); i++) {
		event = catalog_event_peek(c, i);
		length = strlen(event->name);
		if (strncasecmp(event->name, name, length) != 0 ||
		    (name[length] != '_' && name[length] != '.'))
			continue;
		event = catalog_event_at(c, i);
		mask = catalog_mask_named(event, name + length + 1);
		if (!mask)
			continue;
		*ret = (struct evname){ event, mask };
		return true;
	}
	return false;
}

bool evname_find(const struct catalog *c, const char *name, struct evname *ret)
{
	*ret = (struct evname){ .event = catalog_event_find(c, name) };
	return ret->event || as_in_perf(c, name, ret) || in_any_case(c, name, ret) ||
	       since_renamed(c, name, ret) || with_mask(c, name, ret);
}
