/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executable mappings of a process, sorted by address. Processes share them until one changes
 * its own, so that a fork costs a reference.
 *
 *	struct maps *m = maps_new();
 *	maps_add(&m, &(struct mapping){ .start = 0x1000, .end = 0x3000, .cookie = 5 });
 *	struct maps *of_child = maps_ref(m);
 *	mapping = maps_find(m, 0x1234);
 *	maps_unref(m);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct mapping {
	uint64_t start, end; /* addresses, end excluded */
	uint64_t offset;     /* of start in the file, or in the anonymous region */
	uint64_t cookie;     /* of the file; 0: memory without a file */
	const char *label;   /* of such memory, never freed; NULL for a file */
};

struct maps;

/* Makes an empty set; the caller holds the one reference to it. */
struct maps *maps_new(void);
/* Takes another reference; returns @m. */
struct maps *maps_ref(struct maps *m);
/* Drops a reference, the last one frees; NULL is fine. */
void maps_unref(struct maps *m);

/* Puts @mapping into *@m over whatever was there; what it covers in part is cut or split. Where
 * others share *@m, it becomes a copy of the caller's own. */
void maps_add(struct maps **m, const struct mapping *mapping);

/* The mapping that holds @address, or NULL; borrowed until the next change. */
const struct mapping *maps_find(const struct maps *m, uint64_t address);

/* Number of mappings. */
size_t maps_count(const struct maps *m);
/* The @i-th by address; borrowed until the next change. */
const struct mapping *maps_at(const struct maps *m, size_t i);
