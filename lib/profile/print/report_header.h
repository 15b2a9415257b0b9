/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines above a report: the CPU or clock, the events, and what was lost while sampling, so that
 * no report looks better than its data.
 *
 *	struct losses losses;
 *	losses_collect(gather, &losses);
 *	report_header_text(&report, stdout);
 *	losses_done(&losses);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct cpu_type;
struct gather;
struct losses;
struct report;

/* The rate of the clock in timer mode, by the setups of the sessions; 0 if unknown or not one. */
uint64_t report_header_timer_hz(const struct gather *g);
/* By how many percent the sampling periods wander, by the same; 0 if not known. */
uint64_t report_header_wander(const struct gather *g);
/* The type of the CPU that was profiled, as the session's setup names it if the number in the
 * sample files' headers may mean it: several types share a number, and the clock's files are of the
 * type "timer". NULL if the number is unknown. */
const struct cpu_type *report_header_type(const struct report *r);
/* "CPU: NAME, speed 2596.1 MHz (estimated)"; caller frees. */
char *report_header_cpu(const struct report *r);
/* What was counted in a class: "Counted CPU_CLK_UNHALTED events (...) ..."; caller frees. */
char *report_header_class(const struct report *r, size_t class);
/* Prints the header's lines. */
void report_header_text(const struct report *r, FILE *out);
