/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/ibs_raw.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"

#include <errno.h>
#include <string.h>

#define BIT(n) (1ULL << (n))

/* Of the capabilities (CPUID Fn8000_001B EAX): there is a register for the target of a
 * branch; the registers are as of Zen 4. */
#define CAPS_BRANCH_TARGET BIT(5)
#define CAPS_ZEN4	   BIT(11)

#define FETCH_ENABLED	 BIT(48)
#define FETCH_VALID	 BIT(49)
#define FETCH_IC_MISS	 BIT(51)
#define FETCH_PAGE_SHIFT 53
#define FETCH_PAGE	 (3ULL << FETCH_PAGE_SHIFT)

#define OP_ENABLED BIT(17)
#define OP_VALID   BIT(18)

#define DATA1_BRANCH	  BIT(37)
#define DATA1_RIP_INVALID BIT(38)

#define DATA2_SOURCE_LOW  7ULL
#define DATA2_REMOTE	  BIT(4)
#define DATA2_SOURCE_HIGH (3ULL << 6)

#define DATA3_NO_MAB	    BIT(16)
#define DATA3_L2_MISS	    BIT(20)
#define DATA3_SW_PREFETCH   BIT(21)
#define DATA3_OPEN_REQUESTS (0x3fULL << 26)

/* The registers of each kind, in the order of the kernel. */
enum { FETCH_CTL, FETCH_LINEAR, FETCH_PHYSICAL, FETCH_REGS };
enum {
	OP_CTL,
	OP_RIP,
	OP_DATA1,
	OP_DATA2,
	OP_DATA3,
	OP_LINEAR,
	OP_PHYSICAL,
	OP_REGS,
	OP_TARGET = OP_REGS
};

enum { REGS_MAX = OP_REGS + 1 }; /* and the target of a branch */

struct ibs_cpu ibs_cpu_read(const char *root)
{
	static const struct {
		const char *name;
		size_t offset;
	} fields[] = { { "cpu family\t: ", offsetof(struct ibs_cpu, family) },
		       { "model\t\t: ", offsetof(struct ibs_cpu, model) } };
	_cleanup_free_ char *text = NULL;
	struct ibs_cpu cpu = { 0 };
	size_t i;

	if (path_read(root, "/proc/cpuinfo", &text, NULL) < 0)
		return cpu;
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		const char *at = strstr(text, fields[i].name);

		if (!at)
			continue;
		at += strlen(fields[i].name);
		(void)parse_dec(&at, (uint64_t *)((char *)&cpu + fields[i].offset));
	}
	return cpu;
}

/* Processors with AMD's errata 1238, 1293 and 1347 (revision guide of family 19h models 00h-0Fh).
 */
static bool has_errata(const struct ibs_cpu *cpu)
{
	return cpu->family == 0x19 && cpu->model < 0x10;
}

static void correct_fetch(const struct ibs_cpu *cpu, uint64_t *regs)
{
	/* Page sizes by erratum 1347: 4K, 16K, 2M, 1G, as the field has them elsewhere; there is no
	 * 16K, and 3 is reserved. */
	static const uint64_t pages[] = { 0, 3, 1, 2 };
	uint64_t page = (regs[FETCH_CTL] & FETCH_PAGE) >> FETCH_PAGE_SHIFT;

	if (!has_errata(cpu))
		return;
	/* 1238: the bit of instruction cache misses may be wrong; it cannot be relied on. */
	regs[FETCH_CTL] &= ~(FETCH_IC_MISS | FETCH_PAGE);
	regs[FETCH_CTL] |= pages[page] << FETCH_PAGE_SHIFT;
}

/* The source of data as families before Zen 4 have it: 1 local L3, 2 another core's cache, 3 DRAM,
 * 7 anything else, and whether it is remote. */
static void even_source(uint64_t *data2)
{
	static const struct {
		uint8_t source, remote;
	} old[32] = {
		[1] = { 1, 0 },	 /* L3 of this core complex, or a cache in it */
		[2] = { 2, 0 },	 /* cache of a near core complex */
		[3] = { 3, 0 },	 /* DRAM; the node is in a bit of its own */
		[5] = { 2, 1 },	 /* cache of a far core complex */
		[6] = { 7, 0 },	 /* persistent memory */
		[7] = { 7, 0 },	 /* I/O, MMIO, configuration space */
		[8] = { 7, 0 },	 /* extension memory */
		[12] = { 7, 0 }, /* a peer agent's memory */
	};
	size_t source = (*data2 & DATA2_SOURCE_HIGH) >> 3 | (*data2 & DATA2_SOURCE_LOW);

	*data2 &= ~(DATA2_SOURCE_HIGH | DATA2_SOURCE_LOW);
	*data2 |= old[source].source | (old[source].remote ? DATA2_REMOTE : 0);
}

static void correct_op(const struct ibs_cpu *cpu, uint32_t caps, uint64_t *regs)
{
	/* 1293: without a miss address buffer these mean nothing. */
	if (has_errata(cpu) && regs[OP_DATA3] & (DATA3_NO_MAB | DATA3_SW_PREFETCH)) {
		regs[OP_DATA2] = 0;
		regs[OP_DATA3] &= ~(DATA3_L2_MISS | DATA3_OPEN_REQUESTS);
	}
	if (caps & CAPS_ZEN4)
		even_source(&regs[OP_DATA2]);
}

static void put(struct ibs_sample *s, uint64_t reg)
{
	s->words[s->count++] = reg & UINT32_MAX;
	s->words[s->count++] = reg >> 32;
}

static int decode_fetch(const struct ibs_cpu *cpu, uint64_t *regs, struct ibs_sample *ret)
{
	if (!(regs[FETCH_CTL] & FETCH_ENABLED) || !(regs[FETCH_CTL] & FETCH_VALID))
		return -ENODATA;
	correct_fetch(cpu, regs);
	*ret = (struct ibs_sample){ .ip = regs[FETCH_LINEAR], .count = 1 };
	put(ret, regs[FETCH_LINEAR]);
	put(ret, regs[FETCH_CTL]);
	put(ret, regs[FETCH_PHYSICAL]);
	return 0;
}

static int decode_op(const struct ibs_cpu *cpu, uint32_t caps, uint64_t *regs,
		     struct ibs_sample *ret)
{
	int i;

	if (!(regs[OP_CTL] & OP_ENABLED) || !(regs[OP_CTL] & OP_VALID))
		return -ENODATA;
	correct_op(cpu, caps, regs);
	*ret = (struct ibs_sample){ .count = 1 };
	if (!(regs[OP_DATA1] & DATA1_RIP_INVALID))
		ret->ip = regs[OP_RIP];
	for (i = OP_RIP; i < OP_REGS; i++)
		put(ret, regs[i]);
	if (regs[OP_DATA1] & DATA1_BRANCH && caps & CAPS_BRANCH_TARGET)
		ret->target = regs[OP_TARGET];
	return 0;
}

int ibs_raw_decode(const struct ibs_cpu *cpu, enum ibs_kind kind, struct span raw,
		   struct ibs_sample *ret)
{
	size_t count = kind == IBS_FETCH ? (size_t)FETCH_REGS : (size_t)OP_REGS, i;
	uint64_t regs[REGS_MAX];
	uint32_t size, caps;
	struct span in;

	if (span_u32(&raw, &size) < 0 || size > raw.left || span_sub(&raw, size, &in) < 0 ||
	    span_u32(&in, &caps) < 0)
		return -EBADMSG;
	for (i = 0; i < count; i++)
		if (span_u64(&in, &regs[i]) < 0)
			return -EBADMSG;
	regs[count] = 0;
	(void)span_u64(&in, &regs[count]); /* the target of a branch, if it is there */
	return kind == IBS_FETCH ? decode_fetch(cpu, regs, ret) : decode_op(cpu, caps, regs, ret);
}
