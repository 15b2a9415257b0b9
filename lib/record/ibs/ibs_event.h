/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events derived from an AMD instruction-based sample: each is a condition on bits of the
 * sample's registers (AMD's BIOS and Kernel Developer's Guides of families 10h to 15h, "IBS").
 *
 *	const struct ibs_event *e = ibs_event_find("IBS_OP_LOAD");
 *	uint64_t value = ibs_event_value(e, &regs);	0: does not apply
 */
#pragma once

#include "event/evderived.h"

#include <stddef.h>
#include <stdint.h>

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

/* The event called @name, or NULL; a static table. */
const struct ibs_event *ibs_event_find(const char *name);
/* The i-th event; NULL after the last. */
const struct ibs_event *ibs_event_at(size_t i);
/* What a sample adds to the event, 0 if the event does not apply. */
uint64_t ibs_event_value(const struct ibs_event *event, const uint64_t regs[IBS_REGS]);
