/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of source above the instructions they became: follows the code of one function after
 * the other and tells what to print before an instruction.
 *
 *	struct annotate_mix *m = annotate_mix_new(lines, sources, names);
 *	annotate_mix_start(m);				at each function
 *	annotate_mix_at(m, address, prefix, &text);	at each instruction
 *	annotate_mix_free(m);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stdint.h>

struct annotate_mix;
struct lines;
struct name_style;
struct sources;
struct strbuf;

/* All are borrowed; inlined functions are named in the style @names. Caller frees. */
struct annotate_mix *annotate_mix_new(struct lines *lines, struct sources *sources,
				      const struct name_style *names);
/* NULL is fine. */
void annotate_mix_free(struct annotate_mix *m);
DEFINE_CLEANUP(struct annotate_mix *, annotate_mix_free);

/* Forgets what was printed: another function begins. */
void annotate_mix_start(struct annotate_mix *m);
/* Adds the lines, each behind @prefix, that stand above the instruction at @address: nothing while
 * the source stays on one line. Code of another file is announced by its name and line, code of a
 * call that was inlined, and code behind that, by the calls, too. */
void annotate_mix_at(struct annotate_mix *m, uint64_t address, const char *prefix,
		     struct strbuf *out);
