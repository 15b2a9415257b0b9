/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counts of a segment, added up by step of time. Several segments can be read at the same time,
 * each by a thread.
 *
 *	struct segment_steps found = { 0 };
 *	segment_steps_add(&found, segment, &(struct segment_stepping){ .steps = &steps }, wanted);
 *	for (i = 0; i < found.count; i++)
 *		total += found.counts[i].count;
 *	segment_steps_done(&found);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct segment;
struct steps;

struct segment_step_count {
	uint32_t node, step; /* ->step is 0 if time is not divided */
	uint64_t count;
};

struct segment_steps {
	/* A node may have several of a step, if others are between its slices. */
	struct segment_step_count *counts;
	size_t count, room;
	size_t damaged; /* bytes */
};

/* How counts are added up. */
struct segment_stepping {
	const struct steps *steps; /* NULL: time is not divided */
	/* By node: the number that ->node of its counts is instead, below ->number_count; counts
	 * with 0 are left out. NULL: ->node is the node. */
	const uint32_t *numbers;
	uint32_t number_count;
};

/* Adds the slices of @s with @wanted[i], which becomes false if the slice is damaged. */
void segment_steps_add(struct segment_steps *to, struct segment *s,
		       const struct segment_stepping *how, bool *wanted);
/* Adds a count. */
void segment_steps_add_count(struct segment_steps *to, struct segment_step_count count);
/* Frees the counts. */
void segment_steps_done(struct segment_steps *s);
