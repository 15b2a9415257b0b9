/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inlined calls out of DWARF. The functions of the unit and the calls in the function that was
 * asked for last are kept, so that asking for every instruction of a function costs one walk.
 *
 *	struct inlines *in = inlines_new();
 *	n = inlines_find(in, &unit, address, &calls);
 *	inlines_free(in);
 */
#pragma once

#include "image/lines.h"

#include <elfutils/libdw.h>

struct inlines;

/* Without anything read; caller frees. */
struct inlines *inlines_new(void);
/* NULL is fine. */
void inlines_free(struct inlines *in);

/* As lines_inlines(), in the unit that @address is of. */
size_t inlines_find(struct inlines *in, Dwarf_Die *unit, uint64_t address,
		    const struct lines_call **ret);
