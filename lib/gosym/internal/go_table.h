/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a Go program's table of functions, found by its header, and its functions' records.
 * Layouts: Go's runtime/symtab.go and runtime/runtime2.go of the versions named here.
 *
 *	struct go_table t;
 *	uint32_t name;
 *	if (go_table_open(&t, bytes) && go_table_field(&t, record, GO_NAME, &name))
 *		...
 */
#pragma once

#include "base/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first version with a layout. */
enum go_version { GO_1_2, GO_1_16, GO_1_18, GO_1_20, GO_VERSION_COUNT_ };

/* Fields of a function's record: 32 bits each, but for GO_FUNCDATA_COUNT. */
enum go_field {
	GO_NAME,  /* offset of the name */
	GO_STACK, /* offset of the ranges of stack movements */
	GO_FILES, /* offset of the ranges of file numbers */
	GO_LINES, /* offset of the ranges of line numbers */
	GO_PCDATA_COUNT,
	GO_UNIT, /* its compilation unit's first index in the table of files; since 1.16 */
	GO_FUNCDATA_COUNT, /* 8 bits */
	GO_PCDATA,	   /* where further offsets of ranges begin, of 32 bits each */
	GO_FIELD_COUNT_
};

struct go_table {
	enum go_version version;
	unsigned int pointer, quantum;	 /* bytes of a pointer; of the unit of PCs */
	uint64_t text;			 /* base of the functions' addresses; 0 before 1.18 */
	size_t count;			 /* functions */
	struct span all;		 /* the whole table */
	struct span names, units, files; /* text of names; indices of files; text of their paths */
	struct span ranges;		 /* values of ranges of code */
	struct span functions;		 /* addresses with offsets of records; records */
};

/* Finds the parts; false if @bytes are not such a table. Addresses may still be wrong. */
bool go_table_open(struct go_table *t, struct span bytes);
/* Whether the functions' addresses ascend. */
bool go_table_ascends(const struct go_table *t);
/* The address of the @i-th function, at most ->count: that one is where the last ends. */
uint64_t go_table_address(const struct go_table *t, size_t i);
/* Where the record of the @i-th function is in ->functions. */
size_t go_table_record(const struct go_table *t, size_t i);
/* Reads a field of a record; of GO_PCDATA the offset in ->functions. False if there is none. */
bool go_table_field(const struct go_table *t, size_t record, enum go_field field, uint32_t *ret);
/* The string at @offset of @text, or NULL. */
const char *go_table_string(struct span text, uint64_t offset);
/* The path of file number @number of the function, or NULL. */
const char *go_table_file(const struct go_table *t, size_t record, uint32_t number);
