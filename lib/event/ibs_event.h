/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events derived from a sample of AMD's instruction-based sampling (IBS): each is a condition
 * on bits of the sample's registers (AMD's BIOS and Kernel Developer's Guides of families 10h to
 * 15h, "IBS"). All tables are static.
 *
 *	const struct ibs_event *e = ibs_event_find("IBS_OP_LOAD");
 *	uint64_t value = ibs_event_value(e, &regs);	0: does not apply
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The kinds of samples. */
enum ibs_kind { IBS_FETCH, IBS_OP, IBS_KIND_COUNT_ };

/* Names of a kind: its own, the kernel's (also used after "ext:"), and the prefix of its events. */
struct ibs_kind_info {
	const char *name, *pmu, *prefix;
	uint64_t count_max; /* greatest count between two samples */
};
extern const struct ibs_kind_info ibs_kinds[IBS_KIND_COUNT_];

/* Bits of the unit mask of op events. */
enum {
	IBS_OPS = 1,	       /* the count is one of dispatched ops, not of cycles */
	IBS_LOG_MEMORY = 2,    /* accesses to memory are logged */
	IBS_BRANCH_TARGET = 4, /* samples have the target of a branch, which is logged */
	IBS_OP_MASK = 7	       /* all of these */
};

/* The registers of a sample; a fetch sample has only the first. */
enum ibs_reg { IBS_FETCH_CTL = 0, IBS_DATA1 = 0, IBS_DATA2, IBS_DATA3, IBS_REGS };

#define IBS_DATA1_RIP_INVALID (1ULL << 38)

struct ibs_event {
	uint32_t code;
	enum ibs_kind kind;
	const char *name;
	struct {
		uint64_t mask, want; /* the bits in mask equal those in want */
		uint64_t any;	     /* and one of these is set, if not 0 */
	} on[IBS_REGS];
	uint64_t (*value)(const uint64_t regs[IBS_REGS]); /* what is summed; NULL: samples */
};

/* No more events than this exist. */
enum { IBS_EVENTS_MAX = 64 };

/* The event called @name, or NULL. */
const struct ibs_event *ibs_event_find(const char *name);
/* The i-th event, or NULL past the last. */
const struct ibs_event *ibs_event_at(size_t i);
/* What a sample adds to the event, 0 if the event does not apply. */
uint64_t ibs_event_value(const struct ibs_event *event, const uint64_t regs[IBS_REGS]);
