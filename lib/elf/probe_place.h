/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places in an ELF file where the kernel can put a probe: the functions of its symbol tables,
 * and the marks (USDT) that a program has for this purpose, in its notes. Names are borrowed from
 * the file.
 *
 *	static void print(const struct probe_place *place, void *data)
 *	{
 *		printf("%s at %#" PRIx64 "\n", place->name, place->offset);
 *	}
 *	probe_place_functions(ef, print, NULL);
 */
#pragma once

#include "elf/elffile.h"

struct probe_place {
	const char *provider; /* of a mark, "libc"; NULL: it is a function */
	const char *name;
	uint64_t offset;    /* in the file */
	uint64_t semaphore; /* offset of the 16-bit counter that enables the mark; 0: it has none */
	bool is_resolver;   /* the function only selects another one (STT_GNU_IFUNC) */
};

typedef void probe_place_visitor(const struct probe_place *place, void *data);

/* Calls @each for every function; one that is in both symbol tables is visited twice. */
void probe_place_functions(const struct elffile *ef, probe_place_visitor *each, void *data);
/* Calls @each for every mark; one that the compiler has copied has several places. */
void probe_place_marks(const struct elffile *ef, probe_place_visitor *each, void *data);
