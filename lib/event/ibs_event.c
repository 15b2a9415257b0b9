/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/ibs_event.h"

#include "base/macro.h"

#include <string.h>

#define BIT(n) (1ULL << (n))

/* Fetch control. */
#define F_COMPLETE BIT(50)
#define F_IC_MISS  BIT(51)
#define F_PHYS	   BIT(52)
#define F_PAGE	   (BIT(53) | BIT(54))
#define F_PAGE_2M  BIT(53)
#define F_L1_MISS  BIT(55)
#define F_L2_MISS  BIT(56)

/* Data 1: branches. */
#define D1_RESYNC  BIT(32)
#define D1_RETURN  BIT(34)
#define D1_TAKEN   BIT(35)
#define D1_MISPRED BIT(36)
#define D1_BRANCH  BIT(37)

/* Data 2: where the data came from. */
#define D2_SOURCE 7ULL
#define D2_L3	  1ULL
#define D2_CACHE  2ULL
#define D2_DRAM	  3ULL
#define D2_OTHER  7ULL
#define D2_REMOTE BIT(4)
#define D2_OWNED  BIT(5)

/* Data 3: loads and stores. */
#define D3_LOAD	      BIT(0)
#define D3_STORE      BIT(1)
#define D3_L1_MISS    BIT(2)
#define D3_L2_MISS    BIT(3)
#define D3_L1_2M      BIT(4)
#define D3_L1_1G      BIT(5)
#define D3_L2_2M      BIT(6)
#define D3_MISS	      BIT(7)
#define D3_MISALIGNED BIT(8)
#define D3_BANK_LOAD  BIT(9)
#define D3_BANK_STORE BIT(10)
#define D3_FORWARD    BIT(11)
#define D3_CANCEL     BIT(12)
#define D3_WC	      BIT(13)
#define D3_UC	      BIT(14)
#define D3_LOCKED     BIT(15)
#define D3_MAB_HIT    BIT(16)
#define D3_LIN_VALID  BIT(17)
#define D3_L2_1G      BIT(19)

static uint64_t fetch_latency(const uint64_t regs[IBS_REGS])
{
	return regs[IBS_FETCH_CTL] >> 32 & 0xffff;
}

static uint64_t tag_to_retire(const uint64_t regs[IBS_REGS])
{
	return regs[IBS_DATA1] >> 16 & 0xffff;
}

static uint64_t completion_to_retire(const uint64_t regs[IBS_REGS])
{
	return regs[IBS_DATA1] & 0xffff;
}

static uint64_t miss_latency(const uint64_t regs[IBS_REGS])
{
	return regs[IBS_DATA3] >> 32 & 0xffff;
}

/* A row: code, kind, name, then conditions. */
#define FETCH(code, name, mask, want)                                                              \
	{                                                                                          \
		code, IBS_FETCH, "IBS_FETCH_" name, { { mask, want, 0 } }, NULL                    \
	}
#define RETIRE(code, name, bits)                                                                   \
	{                                                                                          \
		code, IBS_OP, "IBS_OP_" name, { { bits, bits, 0 } }, NULL                          \
	}
/* Loads and stores: bits of data 3. */
#define ACCESS(code, name, mask, want)                                                             \
	{                                                                                          \
		code, IBS_OP, "IBS_OP_" name,                                                      \
			{ [IBS_DATA3] = { mask, want, D3_LOAD | D3_STORE } }, NULL                 \
	}
/* Loads that missed the data cache and were served by the north bridge: bits of data 2. */
#define BRIDGE(code, name, mask, want, sum)                                                        \
	{                                                                                          \
		code, IBS_OP, "IBS_OP_NB_" name,                                                   \
			{ [IBS_DATA2] = { mask, want, D2_SOURCE },                                 \
			  [IBS_DATA3] = { D3_LOAD | D3_MISS, D3_LOAD | D3_MISS, 0 } },             \
			sum                                                                        \
	}

#define L1_DTLB (D3_LIN_VALID | D3_L1_MISS | D3_L1_2M | D3_L1_1G)
#define L2_DTLB (D3_LIN_VALID | D3_L1_MISS | D3_L2_MISS | D3_L2_2M | D3_L2_1G)
#define L2_HIT	(D3_LIN_VALID | D3_L1_MISS)

/* clang-format off */
static const struct ibs_event events[] = {
	FETCH(0xf000, "ALL", 0, 0),
	FETCH(0xf001, "KILLED", F_COMPLETE | F_IC_MISS | F_PHYS | F_L1_MISS | F_L2_MISS, 0),
	FETCH(0xf002, "ATTEMPTED", 0, 0),
	FETCH(0xf003, "COMPLETED", F_COMPLETE, F_COMPLETE),
	FETCH(0xf004, "ABORTED", F_COMPLETE, 0),
	FETCH(0xf005, "ITLB_HITS", F_L1_MISS | F_PHYS, F_PHYS),
	FETCH(0xf006, "L1_ITLB_MISSES_L2_ITLB_HITS", F_L1_MISS | F_L2_MISS, F_L1_MISS),
	FETCH(0xf007, "L1_ITLB_MISSES_L2_ITLB_MISSES", F_L1_MISS | F_L2_MISS,
	      F_L1_MISS | F_L2_MISS),
	FETCH(0xf008, "ICACHE_MISSES", F_IC_MISS, F_IC_MISS),
	FETCH(0xf009, "ICACHE_HITS", F_COMPLETE | F_IC_MISS, F_COMPLETE),
	FETCH(0xf00a, "4K_PAGE", F_PHYS | F_PAGE, F_PHYS),
	FETCH(0xf00b, "2M_PAGE", F_PHYS | F_PAGE, F_PHYS | F_PAGE_2M),
	{ 0xf00e, IBS_FETCH, "IBS_FETCH_LATENCY", { { 0 } }, fetch_latency },

	{ 0xf100, IBS_OP, "IBS_OP_ALL", { { 0 } }, NULL },
	{ 0xf101, IBS_OP, "IBS_OP_TAG_TO_RETIRE", { { 0 } }, tag_to_retire },
	{ 0xf102, IBS_OP, "IBS_OP_COMP_TO_RET", { { 0 } }, completion_to_retire },
	RETIRE(0xf103, "BRANCH_RETIRED", D1_BRANCH),
	RETIRE(0xf104, "MISPREDICTED_BRANCH", D1_BRANCH | D1_MISPRED),
	RETIRE(0xf105, "TAKEN_BRANCH", D1_BRANCH | D1_TAKEN),
	RETIRE(0xf106, "MISPREDICTED_BRANCH_TAKEN", D1_BRANCH | D1_TAKEN | D1_MISPRED),
	RETIRE(0xf107, "RETURNS", D1_BRANCH | D1_RETURN),
	RETIRE(0xf108, "MISPREDICTED_RETURNS", D1_BRANCH | D1_RETURN | D1_MISPRED),
	RETIRE(0xf109, "RESYNC", D1_RESYNC),

	ACCESS(0xf200, "ALL_LOAD_STORE", 0, 0),
	ACCESS(0xf201, "LOAD", D3_LOAD, D3_LOAD),
	ACCESS(0xf202, "STORE", D3_STORE, D3_STORE),
	ACCESS(0xf203, "L1_DTLB_HITS", D3_LIN_VALID | D3_L1_MISS, D3_LIN_VALID),
	ACCESS(0xf204, "L1_DTLB_MISS_L2_DTLB_HIT", L2_HIT | D3_L2_MISS, L2_HIT),
	ACCESS(0xf205, "L1_L2_DTLB_MISS", L2_HIT | D3_L2_MISS, L2_HIT | D3_L2_MISS),
	ACCESS(0xf206, "DATA_CACHE_MISS", D3_MISS, D3_MISS),
	ACCESS(0xf207, "DATA_HITS", D3_MISS, 0),
	ACCESS(0xf208, "MISALIGNED_DATA_ACC", D3_MISALIGNED, D3_MISALIGNED),
	ACCESS(0xf209, "BANK_CONF_LOAD", D3_BANK_LOAD, D3_BANK_LOAD),
	ACCESS(0xf20a, "BANK_CONF_STORE", D3_BANK_STORE, D3_BANK_STORE),
	ACCESS(0xf20b, "FORWARD", D3_LOAD | D3_FORWARD, D3_LOAD | D3_FORWARD),
	ACCESS(0xf20c, "CANCELLED", D3_LOAD | D3_CANCEL, D3_LOAD | D3_CANCEL),
	ACCESS(0xf20d, "DCUC_MEM_ACC", D3_UC, D3_UC),
	ACCESS(0xf20e, "DCWC_MEM_ACC", D3_WC, D3_WC),
	ACCESS(0xf20f, "LOCKED", D3_LOCKED, D3_LOCKED),
	ACCESS(0xf210, "MAB_HIT", D3_MAB_HIT, D3_MAB_HIT),
	ACCESS(0xf211, "L1_DTLB_4K", L1_DTLB, D3_LIN_VALID),
	ACCESS(0xf212, "L1_DTLB_2M", L1_DTLB & ~D3_L1_1G, D3_LIN_VALID | D3_L1_2M),
	ACCESS(0xf213, "L1_DTLB_1G", L1_DTLB, D3_LIN_VALID | D3_L1_1G),
	ACCESS(0xf215, "L2_DTLB_4K", L2_DTLB, L2_HIT),
	ACCESS(0xf216, "L2_DTLB_2M", L2_DTLB, L2_HIT | D3_L2_2M),
	ACCESS(0xf217, "L2_DTLB_1G", L2_DTLB, L2_HIT | D3_L2_1G),
	{ 0xf219, IBS_OP, "IBS_OP_DC_LOAD_LAT",
	  { [IBS_DATA3] = { D3_LOAD | D3_MISS, D3_LOAD | D3_MISS, 0 } }, miss_latency },

	BRIDGE(0xf240, "LOCAL_ONLY", D2_REMOTE, 0, NULL),
	BRIDGE(0xf241, "REMOTE_ONLY", D2_REMOTE, D2_REMOTE, NULL),
	BRIDGE(0xf242, "LOCAL_L3", D2_REMOTE | D2_SOURCE, D2_L3, NULL),
	BRIDGE(0xf243, "LOCAL_CACHE", D2_REMOTE | D2_SOURCE, D2_CACHE, NULL),
	BRIDGE(0xf244, "REMOTE_CACHE", D2_REMOTE | D2_SOURCE, D2_REMOTE | D2_CACHE, NULL),
	BRIDGE(0xf245, "LOCAL_DRAM", D2_REMOTE | D2_SOURCE, D2_DRAM, NULL),
	BRIDGE(0xf246, "REMOTE_DRAM", D2_REMOTE | D2_SOURCE, D2_REMOTE | D2_DRAM, NULL),
	BRIDGE(0xf247, "LOCAL_OTHER", D2_REMOTE | D2_SOURCE, D2_OTHER, NULL),
	BRIDGE(0xf248, "REMOTE_OTHER", D2_REMOTE | D2_SOURCE, D2_REMOTE | D2_OTHER, NULL),
	BRIDGE(0xf249, "CACHE_MODIFIED", D2_SOURCE | D2_OWNED, D2_CACHE, NULL),
	BRIDGE(0xf24a, "CACHE_OWNED", D2_SOURCE | D2_OWNED, D2_CACHE | D2_OWNED, NULL),
	BRIDGE(0xf24b, "LOCAL_CACHE_LAT", D2_REMOTE, 0, miss_latency),
	BRIDGE(0xf24c, "REMOTE_CACHE_LAT", D2_REMOTE, D2_REMOTE, miss_latency),
};
/* clang-format on */

static_assert(ARRAY_SIZE(events) <= IBS_EVENTS_MAX, "struct evderived has room for all");

const struct ibs_kind_info ibs_kinds[IBS_KIND_COUNT_] = {
	[IBS_FETCH] = { "fetch", "ibs_fetch", "IBS_FETCH_", 1048575 },
	[IBS_OP] = { "op", "ibs_op", "IBS_OP_", 134217727 },
};

const struct ibs_event *ibs_event_at(size_t i)
{
	return i < ARRAY_SIZE(events) ? &events[i] : NULL;
}

const struct ibs_event *ibs_event_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (!strcmp(events[i].name, name))
			return &events[i];
	return NULL;
}

uint64_t ibs_event_value(const struct ibs_event *event, const uint64_t regs[IBS_REGS])
{
	int i;

	for (i = 0; i < IBS_REGS; i++)
		if ((regs[i] & event->on[i].mask) != event->on[i].want ||
		    (event->on[i].any && !(regs[i] & event->on[i].any)))
			return 0;
	return event->value ? event->value(regs) : 1;
}
