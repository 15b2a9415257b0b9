/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layouts of Python interpreters that the BPF program has, by number. Unwind tables refer to
 * them by these numbers, so all are forgotten when tables are moved. The caller owns the struct.
 *
 *	struct python_slots slots = { .map = sampler_maps(sampler)->pythons };
 *	if (python_slots_fit(&slots, &layout))
 *		number = python_slots_number(&slots, &layout);
 */
#pragma once

#include "bpf/interpreter.h"
#include "bpf/sample.h"

#include <stdbool.h>
#include <stdint.h>

struct python_slots {
	int map;	/* that of the program */
	uint32_t count; /* of those in use; they have the numbers from 1 on */
	struct python_layout layouts[SAMPLE_PYTHONS_MAX];
};

/* Whether @layout has a number, can get one, or needs none. */
bool python_slots_fit(const struct python_slots *s, const struct python_layout *layout);
/* The number of @layout, which may be a new one; 0 if the program cannot walk it. */
uint32_t python_slots_number(struct python_slots *s, const struct python_layout *layout);
