/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of a tree of call chains, sorted by text: equal ones are one. The text of a stack is
 * made from that of its callers, and is not kept.
 *
 *	struct chains_stacks *s = chains_stacks_new(report);
 *	chains_stacks_each(s, print, out);
 *	chains_stacks_free(s);
 */
#pragma once

#include "base/macro.h"

#include <stddef.h>
#include <stdint.h>

struct chains_stacks;
struct report;
struct row;
struct strbuf;

/* Appends the part of a stack that an application is, or a function: without semicolons and control
 * characters, with the mark by which tools colour it. */
void chains_stacks_add_app(struct strbuf *b, const struct report *r, uint32_t app);
void chains_stacks_add_function(struct strbuf *b, const struct report *r, const struct row *row);
/* Replaces the semicolons of a part, which begins at @from. */
void chains_stacks_end_part(struct strbuf *b, size_t from);

/* Names the nodes of the tree of the report, which is borrowed. The caller frees. */
struct chains_stacks *chains_stacks_new(const struct report *r);
/* NULL is allowed. */
void chains_stacks_free(struct chains_stacks *s);
DEFINE_CLEANUP(struct chains_stacks *, chains_stacks_free);
/* Calls @each with each stack that has samples, "app;outermost;...;innermost": the same ones in the
 * same order each time. */
void chains_stacks_each(struct chains_stacks *s,
			void (*each)(const struct strbuf *text, uint64_t samples, void *data),
			void *data);
