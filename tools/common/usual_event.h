/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of several events of a profile is shown if none is asked for: one whose samples mean time
 * on a CPU, such as the clock's or cycles, before others, and those before time off the CPU; of
 * equal ones, the one with the most samples.
 *
 *	struct class *event = &p->classes.classes[usual_event(p)];
 */
#pragma once

#include <stddef.h>

struct profile;

/* Returns the index of the first class of that event. */
size_t usual_event(const struct profile *p);
