/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lines, instructions and functions call, if that is wanted: struct annotate_config has
 * ->calls. Then counts have a second class after that of their own samples: these and those of what
 * they call, each sample once.
 *
 *	struct annotate_calls c = { .annotate = a };
 *	annotate_calls_each(a, view, NULL, add_place, &c);	which calls
 *		annotate_calls_add(&c, 7, sums);			*sums is completed
 *	annotate_calls_end(&c);
 */
#pragma once

#include "base/map.h"
#include "profile/annotate/annotate.h"
#include "profile/rows/chain_calls.h"

struct disasm;

/* A place in call chains that is in a symbol of a view. */
struct annotate_place {
	size_t number; /* of ->calls */
	const struct annotate_symbol *symbol;
	uint64_t address; /* of the code */
};

/* Counts that are to be completed. */
struct annotate_calls {
	const struct annotate *annotate;
	struct chain_keys keys;
	uint64_t **counts;
	size_t count, room;
	struct map numbers; /* by address of a count: its number + 1 */
};

/* Adds images that only call, and to all images a sample of no events at each place in call chains,
 * so that lines and symbols that only call are found, too. */
void annotate_calls_prepare(struct annotate *a);
/* Calls @each with the places in @symbol; NULL: in all selected symbols of the view. */
void annotate_calls_each(const struct annotate *a, const struct annotate_view *v,
			 const struct annotate_symbol *symbol,
			 void (*each)(const struct annotate_place *place, void *data), void *data);
/* Completes the counts of the symbols of a view, and notes the places of the selected ones. */
void annotate_calls_symbols(struct annotate *a, struct annotate_view *v);
/* What each instruction of a symbol calls, in the order in which a disassembler finds them in its
 * pieces, @count of them; caller frees. */
uint64_t *annotate_calls_code(const struct annotate *a, const struct annotate_view *v,
			      const struct annotate_symbol *symbol, struct disasm *disasm);

/* Notes that a place counts for *@count, which stays where it is until annotate_calls_end(). */
void annotate_calls_add(struct annotate_calls *c, size_t place, uint64_t *count);
/* Adds what the places call to their counts, each sample once for each count, and frees all. */
void annotate_calls_end(struct annotate_calls *c);
