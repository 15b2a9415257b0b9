/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/internal/evname.h"

#include "base/macro.h"
#include "event/cpu_type.h"

#include <string.h>

/* Events that libpfm4 calls otherwise than OProfile 1.x did. Each pair has the same code. */
static const struct {
	const char *cpus, *old, *name;
} renamed[] = {
	{ "i386/core_2", "BR_BOGUS", "BOGUS_BR" },
	{ "i386/core_2", "BUS_REQ_OUTSTANDING", "BUS_REQUEST_OUTSTANDING" },
	{ "i386/core_2", "BUS_TRAN_ANY", "BUS_TRANS_ANY" },
	{ "i386/core_2", "BUS_TRAN_BRD", "BUS_TRANS_BRD" },
	{ "i386/core_2", "BUS_TRAN_BURST", "BUS_TRANS_BURST" },
	{ "i386/core_2", "BUS_TRAN_IFETCH", "BUS_TRANS_IFETCH" },
	{ "i386/core_2", "BUS_TRAN_INVAL", "BUS_TRANS_INVAL" },
	{ "i386/core_2", "BUS_TRAN_MEM", "BUS_TRANS_MEM" },
	{ "i386/core_2", "BUS_TRAN_PWR", "BUS_TRANS_PWR" },
	{ "i386/core_2", "BUS_TRAN_RFO", "BUS_TRANS_RFO" },
	{ "i386/core_2", "BUS_TRAN_WB", "BUS_TRANS_WB" },
	{ "i386/core_2", "EIST_TRANS_ALL", "EIST_TRANS" },
	{ "i386/core_2", "FLOPS", "FP_COMP_OPS_EXE" },
	{ "i386/core_2", "IFU_MEM_STALL", "CYCLES_L1I_MEM_STALLED" },
	{ "i386/core_2", "MMX_ASSIST", "SIMD_ASSIST" },
	{ "i386/core_2", "SEG_RENAMES", "SEG_REG_RENAMES" },
	{ "i386/core_2", "SIMD_INSTR_RET", "SIMD_INSTR_RETIRED" },
	{ "i386/core_2", "SIMD_SAT_INSTR_RET", "SIMD_SAT_INSTR_RETIRED" },
	{ "i386/core_2", "SSE_PREF_MISS", "SSE_PRE_MISS" },
	{ "i386/core_i7", "MEMORY_DISAMBIGURATION", "MEMORY_DISAMBIGUATION" },
	{ "i386/core_i7", "OOF_CORE_RESPONSE_0", "OFFCORE_RESPONSE_0" },
	{ "i386/nehalem", "MEMORY_DISAMBIGURATION", "MEMORY_DISAMBIGUATION" },
	{ "i386/nehalem", "OOF_CORE_RESPONSE_0", "OFFCORE_RESPONSE_0" },
	{ "i386/p4", "UOP_TYPE", "uops_type" },
	{ "x86-64/family15h", "EXECUTED_CFLUSH_INST", "EXECUTED_CLFLUSH_INSTRUCTIONS" },
	{ "x86-64/family15h", "L2_PREFETCHER_TRIGGER", "L2_PREFETCHER_TRIGGER_EVENTS" },
	{ "x86-64/hammer", "1_BIT_ECC_ERRORS", "SCRUBBER_SINGLE_BIT_ECC_ERRORS" },
	{ "x86-64/hammer", "CYCLES_FPU_EMPTY", "CYCLES_NO_FPU_OPS_RETIRED" },
	{ "x86-64/hammer", "DATA_CACHE_REFILLS_FROM_L2_OR_SYSTEM", "DATA_CACHE_REFILLS" },
	{ "x86-64/hammer", "DISPATCHED_FPU_OPS", "DISPATCHED_FPU" },
	{ "x86-64/hammer", "DISPATCH_STALL_FOR_FAR_TRANSFER_OR_RESYNC",
	  "DISPATCH_STALL_FOR_FAR_TRANSFER_OR_RSYNC" },
	{ "x86-64/hammer", "DR0_BREAKPOINTS", "DR0_BREAKPOINT_MATCHES" },
	{ "x86-64/hammer", "DR1_BREAKPOINTS", "DR1_BREAKPOINT_MATCHES" },
	{ "x86-64/hammer", "DR2_BREAKPOINTS", "DR2_BREAKPOINT_MATCHES" },
	{ "x86-64/hammer", "DR3_BREAKPOINTS", "DR3_BREAKPOINT_MATCHES" },
	{ "x86-64/hammer", "DRAM_ACCESSES", "DRAM_ACCESSES_PAGE" },
	{ "x86-64/hammer", "HYPERTRANSPORT_LINK0_TRANSMIT_BANDWIDTH", "HYPERTRANSPORT_LINK0" },
	{ "x86-64/hammer", "HYPERTRANSPORT_LINK1_TRANSMIT_BANDWIDTH", "HYPERTRANSPORT_LINK1" },
	{ "x86-64/hammer", "HYPERTRANSPORT_LINK2_TRANSMIT_BANDWIDTH", "HYPERTRANSPORT_LINK2" },
	{ "x86-64/hammer", "L2_CACHE_FILL_WRITEBACK", "L2_FILL_WRITEBACK" },
	{ "x86-64/hammer", "LOCKED_INSTRUCTIONS_DCACHE_MISSES",
	  "DCACHE_MISSES_BY_LOCKED_INSTRUCTIONS" },
	{ "x86-64/hammer", "MEMORY_CONTROLLER_BYPASS_COUNTER_SATURATION",
	  "MEMORY_CONTROLLER_BYPASS" },
	{ "x86-64/hammer", "MICRO_ARCH_EARLY_CANCEL_ACCESS",
	  "MICROARCHITECTURAL_EARLY_CANCEL_OF_AN_ACCESS" },
	{ "x86-64/hammer", "MICRO_ARCH_LATE_CANCEL_ACCESS",
	  "MICROARCHITECTURAL_LATE_CANCEL_OF_AN_ACCESS" },
	{ "x86-64/hammer", "PROBE_RESPONSES_AND_UPSTREAM_REQUESTS", "PROBE" },
	{ "x86-64/hammer", "QUADWORD_WRITE_TRANSFERS", "QUADWORDS_WRITTEN_TO_SYSTEM" },
	{ "x86-64/hammer", "RETIRED_MMX_FP_INSTRUCTIONS", "RETIRED_MMX_AND_FP_INSTRUCTIONS" },
};

static bool since_renamed(const struct catalog *c, const char *name, struct evname *ret)
{
	const char *key = catalog_type(c)->key;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(renamed) && !ret->event; i++)
		if (!strncmp(renamed[i].cpus, key, strlen(renamed[i].cpus)) &&
		    !strcmp(renamed[i].old, name))
			ret->event = catalog_event_find(c, renamed[i].name);
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
	return ret->event || in_any_case(c, name, ret) || since_renamed(c, name, ret) ||
	       with_mask(c, name, ret);
}
