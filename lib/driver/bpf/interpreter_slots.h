/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interpreters that the BPF program knows, by number. Unwind tables refer to
 * them by these numbers, so all are forgotten when tables are moved. The caller owns the struct.
 *
 *	struct interpreter_slots slots = { .map = sampler_maps(sampler)->interpreters };
 *	if (interpreter_slots_fit(&slots, &interpreter))
 *		number = interpreter_slots_number(&slots, &interpreter);
 */
#pragma once

#include "bpf/interpreter.h"
#include "bpf/sample.h"

#include <stdbool.h>
#include <stdint.h>

struct interpreter_slots {
	int map;	/* that of the program */
	uint32_t count; /* of those in use; they have the numbers from 1 on */
	struct interpreter all[SAMPLE_INTERPRETERS_MAX];
};

/* Whether @interpreter has a number, can get one, or needs none. */
bool interpreter_slots_fit(const struct interpreter_slots *s,
			   const struct interpreter *interpreter);
/* The number of @interpreter, which may be a new one; 0 if the program cannot walk it. */
uint32_t interpreter_slots_number(struct interpreter_slots *s,
				  const struct interpreter *interpreter);
