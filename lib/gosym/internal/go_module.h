/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the table of functions of a Go program refers to, but does not contain. The linker writes it
 * into the runtime's description of the program (runtime.moduledata), which is found because it
 * starts with the address of the table. In position-independent files these addresses are
 * relocations.
 *
 *	struct go_module m = go_module_find(ef, table_address);
 */
#pragma once

#include "base/span.h"

#include <stdint.h>

struct elffile;

struct go_module {
	uint64_t text;	     /* address of the first function; 0 if not found */
	struct span data[2]; /* of functions, where Go 1.18 has them, and Go 1.20; may be empty */
};

/* Finds the description of @ef, which is that of the table at the linked address @table. */
struct go_module go_module_find(const struct elffile *ef, uint64_t table);
