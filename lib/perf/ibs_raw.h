/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AMD's instruction-based samples as the kernel's PMUs ibs_fetch and ibs_op hand them over
 * (PERF_SAMPLE_RAW: size, capabilities, registers; arch/x86/events/amd/ibs.c), made into the words
 * that the event buffer has for them, errata and newer encodings evened out.
 *
 *	struct ibs_cpu cpu = ibs_cpu_read(root);
 *	struct ibs_sample sample;
 *	if (ibs_raw_decode(&cpu, IBS_OP, raw, &sample) == 0)
 *		fwrite(sample.words, sizeof(sample.words[0]), sample.count, stdout);
 */
#pragma once

#include "base/span.h"
#include "event/evderived.h"

#include <stdbool.h>

/* Words behind the code, the first of them is the offset. */
enum { IBS_RAW_WORDS_MAX = 14 };

struct ibs_cpu {
	uint64_t family, model;
};

struct ibs_sample {
	uint64_t ip;			   /* of the instruction, 0 where that is not known */
	uint64_t words[IBS_RAW_WORDS_MAX]; /* the offset left 0, for the caller to fill in */
	size_t count;
	uint64_t target; /* of a branch, 0: none, or this processor does not tell */
};

/* The CPU of the machine below @root. */
struct ibs_cpu ibs_cpu_read(const char *root);

/* Takes a sample's raw data apart, from its size on. 0; -ENODATA if the processor says itself that
 * it is not valid; -EBADMSG if it is cut short. */
int ibs_raw_decode(const struct ibs_cpu *cpu, enum ibs_kind kind, struct span raw,
		   struct ibs_sample *ret);
