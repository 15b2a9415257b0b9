/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an interrupt that takes a sample costs the CPU that it interrupts, whoever's program runs
 * there: measured, for it differs by a factor of fifty between bare metal and a virtual machine.
 *
 *	double ns = interrupt_cost_ns();
 */
#pragma once

/* Has the clock tick every 100 us for some milliseconds and looks how long each tick keeps a loop
 * from going on; the median in nanoseconds, or a guess where nothing can be sampled. */
double interrupt_cost_ns(void);
