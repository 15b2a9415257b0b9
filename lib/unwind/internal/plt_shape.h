/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Procedure linkage tables that no call frame information describes: the linkers lld and mold never
 * do, and none does on AArch64. Their code has one of few forms, known by the first bytes.
 *
 *	const struct plt_part *part;
 *
 *	part = plt_shape(UNWIND_X86_64, ".plt", span_of(code, size));
 *	for (; part && part->rule; part++)
 *		printf("%u bytes\n", part->bytes);
 */
#pragma once

#include "base/span.h"
#include "bpf/unwind_step.h"

#include <stddef.h>
#include <stdint.h>

/* A part of the table that one rule applies to. */
struct plt_part {
	uint32_t bytes;			/* 0: the rest of the table */
	const struct unwind_rule *rule; /* NULL: no part, at the end of the list */
};

/* The sections that may be such tables; NULL after the last. */
extern const char *const plt_sections[];

/* The parts of the table in @section, in order, by its @code. Static; NULL if the form is unknown.
 */
const struct plt_part *plt_shape(enum unwind_machine machine, const char *section,
				 struct span code);
