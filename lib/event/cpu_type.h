/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU types: the number in the sample file's header, its key and its name for people. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu_type {
	uint32_t id;	    /* in sample file headers; several newer ones have one */
	const char *key;    /* "timer", "x86-64/generic" */
	const char *pretty; /* "AMD64 generic" */
};

/* The type of the CPU this runs on (of the machine whose /proc lies below @root); the timer type
 * if @timer. Never NULL. */
const struct cpu_type *cpu_type_detect(const char *root, bool timer);
/* The i-th type, NULL behind the last. */
const struct cpu_type *cpu_type_at(size_t i);
/* The type with this key, or NULL. */
const struct cpu_type *cpu_type_named(const char *key);
/* The type with this number, the oldest where several have it; NULL if there is none. */
const struct cpu_type *cpu_type_by_id(uint32_t id);
