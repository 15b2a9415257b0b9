/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of files that were executed, and not sampled yet. A program that runs for 10 ms and
 * has no name any more may be gone before its first sample is read, but not before it is known that
 * it was executed. Most programs are never sampled, so these are kept in memory, and only the
 * newest ones: their tables take the place of older ones.
 *
 *	functions_ahead_put(&ahead, cookie, key, &bytes, &table);	when it is executed
 *	found = functions_ahead_find(&ahead, cookie, key);	with the first sample
 *	functions_ahead_done(&ahead);
 */
#pragma once

#include "symbol/function_file.h"
#include "symbol/function_store.h"

#include <stddef.h>
#include <stdint.h>

enum {
	FUNCTIONS_AHEAD_TABLES = 256,
	FUNCTIONS_AHEAD_BYTES = 4 << 20, /* of all tables */
};

/* Zeroed, there are none. */
struct functions_ahead {
	struct {
		uint64_t cookie; /* of the file; 0: there is none */
		char key[FUNCTION_KEY];
		void *bytes;
		struct function_table table;
	} places[FUNCTIONS_AHEAD_TABLES];
	size_t next;  /* the place of the next table, that of the oldest one */
	size_t bytes; /* of all */
};

/* Keeps the table of the file @cookie, whose bytes are in *@bytes, which it takes; one that is too
 * large is freed. */
void functions_ahead_put(struct functions_ahead *a, uint64_t cookie, const char key[FUNCTION_KEY],
			 void **bytes, const struct function_table *table);
/* The table of the file @cookie, valid until the next call, with its key in @key; NULL: there is
 * none. */
const struct function_table *functions_ahead_find(const struct functions_ahead *a, uint64_t cookie,
						  char key[FUNCTION_KEY]);
void functions_ahead_done(struct functions_ahead *a);
