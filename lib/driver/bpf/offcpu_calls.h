/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a task waits for in a system call, for the program that measures time off the CPU. A call
 * that is not in the table says nothing, and the state of the task decides.
 *
 *	struct sample_config config = { 0 };
 *	offcpu_calls_fill(&config);
 */
#pragma once

struct sample_config;

/* Fills in ->offcpu_calls and ->futex. */
void offcpu_calls_fill(struct sample_config *config);
