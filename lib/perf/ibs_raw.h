/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts AMD's instruction-based samples from the raw data of the kernel's PMUs ibs_fetch and
 * ibs_op (PERF_SAMPLE_RAW: size, capabilities, registers; arch/x86/events/amd/ibs.c) to the words
 * that the event buffer has for them. Corrects for errata and newer encodings.
 *
 *	struct ibs_cpu cpu = ibs_cpu_read(root);
 *	struct ibs_sample sample;
 *	if (ibs_raw_decode(&cpu, IBS_OP, raw, &sample) == 0)
 *		fwrite(sample.words, sizeof(sample.words[0]), sample.count, stdout);
 */
#pragma once

#include "base/span.h"
#include "event/ibs_event.h"

#include <stdbool.h>

/* Words after the code; the first of them is the offset. */
enum { IBS_RAW_WORDS_MAX = 14 };

struct ibs_cpu {
	uint64_t family, model;
};

struct ibs_sample {
	uint64_t ip;			   /* of the instruction, 0: unknown */
	uint64_t words[IBS_RAW_WORDS_MAX]; /* the offset left 0, for the caller to fill in */
	size_t count;
	uint64_t target; /* of a branch; 0: none, or not reported by this processor */
};

/* The CPU of the machine below @root. */
struct ibs_cpu ibs_cpu_read(const char *root);

/* Decodes a sample's raw data, which begins with its size. Returns 0; -ENODATA if the processor
 * marked the sample invalid; -EBADMSG if it is truncated. */
int ibs_raw_decode(const struct ibs_cpu *cpu, enum ibs_kind kind, struct span raw,
		   struct ibs_sample *ret);
