/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines above the instructions compiled from them: follows the code function by function and
 * returns what to print before an instruction.
 *
 *	struct annotate_mix *m = annotate_mix_new(&config);
 *	annotate_mix_start(m);				at each function
 *	annotate_mix_at(m, address, prefix, &text);	at each instruction
 *	annotate_mix_free(m);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct annotate_mix;
struct lines;
struct name_style;
struct sources;
struct strbuf;

struct annotate_mix_config {
	struct lines *lines;
	struct sources *sources;
	const struct name_style *names; /* of inlined functions */
	uid_t owner;			/* of the binary, for sources_open() */
	uint64_t built;			/* the same, for sources_compare() */
	bool is_terminal;		/* makes control characters in the sources visible */
};

/* All that @config refers to is borrowed. Caller frees. */
struct annotate_mix *annotate_mix_new(const struct annotate_mix_config *config);
/* NULL is fine. */
void annotate_mix_free(struct annotate_mix *m);
DEFINE_CLEANUP(struct annotate_mix *, annotate_mix_free);

/* Starts another function: forgets what was printed. */
void annotate_mix_start(struct annotate_mix *m);
/* Adds the lines to print above the instruction at @address, each after @prefix; nothing while the
 * source stays on one line. When the file changes, adds its name and line; when an inlined call
 * starts or ends, also the calls. */
void annotate_mix_at(struct annotate_mix *m, uint64_t address, const char *prefix,
		     struct strbuf *out);
