/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU types: the number in sample file headers, the key, and the name for people. All are
 * constant. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu_type {
	uint32_t id;	    /* in sample file headers; several newer types share one */
	const char *key;    /* "timer", "x86-64/generic" */
	const char *pretty; /* "AMD64 generic" */
};

/* Returns the type of the CPU of this machine, or of the one whose /proc is under @root; with
 * @timer always the timer type. Never NULL. */
const struct cpu_type *cpu_type_detect(const char *root, bool timer);
/* Returns the @i-th type, or NULL past the last. */
const struct cpu_type *cpu_type_at(size_t i);
/* Returns the type with this key, or NULL. */
const struct cpu_type *cpu_type_named(const char *key);
/* Returns the type with this number, the oldest if several share it, or NULL. */
const struct cpu_type *cpu_type_by_id(uint32_t id);
