/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies a segment of a simulated history to a later hour, day or week, as if the machine went on
 * like that: programs that run for a short time have other names, others may have been built again,
 * and what is rare is something else.
 *
 *	history_drift(&(struct history_drift_how){
 *		.samples = dir, .kind = &history_flat, .from = path, .begin_ms = day_ms });
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct history_kind;

struct history_drift_how {
	const char *samples; /* the session that it is copied to */
	const struct history_kind *kind;
	const char *from; /* path of the segment */
	int64_t from_ms;  /* where the hour, day or week that it is of begins */
	int64_t begin_ms; /* where that of the copy begins */
	/* Nobody asks for how large it is: it is compressed in less time. */
	bool is_brief;
};

/* Makes the copy; returns its samples. Ends the program if it cannot. */
uint64_t history_drift(const struct history_drift_how *how);
