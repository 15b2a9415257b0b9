/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executable mappings of a process, sorted by address. Processes share a set until one of them
 * changes its own, so that a fork only takes a reference.
 *
 *	struct maps *m = maps_new(), *of_child;
 *
 *	maps_add(&m, &(struct mapping){ .start = 0x1000, .end = 0x3000, .cookie = 5 });
 *	of_child = maps_ref(m);
 *	mapping = maps_find(m, 0x1234);
 *	maps_unref(of_child);
 *	maps_unref(m);
 */
#pragma once

#include "file/file_identity.h"

#include <stddef.h>
#include <stdint.h>

struct mapping {
	uint64_t start, end; /* addresses, end excluded */
	uint64_t offset;     /* of start in the file, or in the anonymous region */
	uint64_t cookie;     /* of the file; 0: memory without a file */
	const char *label; /* of memory without a file, or that counts for one because its text was
			      * moved there: a constant; NULL for a file */
};

/* A mapping as the kernel names it in MMAP2 records and in /proc/PID/maps; borrowed. */
struct mapping_source {
	uint64_t start, end;
	uint64_t offset; /* of start in the file, in bytes */
	struct file_identity file;
	const char *path;
};

struct cookie_table;
struct maps;

/* Makes an empty set; the caller gets a reference. */
struct maps *maps_new(void);
/* Takes another reference; returns @m. */
struct maps *maps_ref(struct maps *m);
/* Drops a reference; the last one frees the set. NULL is fine. */
void maps_unref(struct maps *m);

/* Adds @mapping to *@m, over whatever was there: mappings that it covers in part are cut or split.
 * If others share *@m, *@m is replaced by a copy first. */
void maps_add(struct maps **m, const struct mapping *mapping);

/* The mapping of @address, or NULL; borrowed until the next change. */
const struct mapping *maps_find(const struct maps *m, uint64_t address);

/* Number of mappings. */
size_t maps_count(const struct maps *m);
/* The first mapping that ends after @address, or NULL; borrowed until the next change. */
const struct mapping *maps_next(const struct maps *m, uint64_t address);

/* Fills *@ret from what the kernel says: the cookie of a file or of the vdso, or a label for memory
 * without a file, where offsets count from its start. */
void mapping_from(const struct mapping_source *source, struct cookie_table *cookies,
		  struct mapping *ret);
