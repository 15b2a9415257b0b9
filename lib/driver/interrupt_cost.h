/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how much CPU time a sampling interrupt takes from the program that it interrupts. It
 * must be measured, as it differs by a factor of fifty between bare metal and a virtual machine.
 *
 *	double ns = interrupt_cost_ns();
 */
#pragma once

/* Lets the clock tick every 100 us for some milliseconds and measures how long each tick delays a
 * loop. Returns the median in nanoseconds, or a guess if nothing can be sampled. */
double interrupt_cost_ns(void);
