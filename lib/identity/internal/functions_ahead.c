/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/internal/functions_ahead.h"

#include "base/macro.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void drop(struct functions_ahead *a, size_t i)
{
	a->bytes -= a->places[i].table.size;
	free(a->places[i].bytes);
	memset(&a->places[i], 0, sizeof(a->places[i]));
}

/* Drops the oldest tables until there is room for @size bytes more. */
static void make_room(struct functions_ahead *a, size_t size)
{
	size_t i = a->next;

	drop(a, i);
	while (a->bytes + size > FUNCTIONS_AHEAD_BYTES) {
		i = (i + 1) % FUNCTIONS_AHEAD_TABLES;
		drop(a, i);
	}
}

void functions_ahead_put(struct functions_ahead *a, uint64_t cookie, const char key[FUNCTION_KEY],
			 void **bytes, const struct function_table *table)
{
	if (table->size > FUNCTIONS_AHEAD_BYTES) {
		free(STEAL(*bytes));
		return;
	}
	make_room(a, table->size);
	a->places[a->next].cookie = cookie;
	memcpy(a->places[a->next].key, key, FUNCTION_KEY);
	a->places[a->next].bytes = STEAL(*bytes);
	a->places[a->next].table = *table;
	a->bytes += table->size;
	a->next = (a->next + 1) % FUNCTIONS_AHEAD_TABLES;
}

const struct function_table *functions_ahead_find(const struct functions_ahead *a, uint64_t cookie,
						  char key[FUNCTION_KEY])
{
	size_t i;

	for (i = 0; i < FUNCTIONS_AHEAD_TABLES; i++) {
		if (a->places[i].cookie != cookie)
			continue;
		memcpy(key, a->places[i].key, FUNCTION_KEY);
		return &a->places[i].table;
	}
	return NULL;
}

void functions_ahead_done(struct functions_ahead *a)
{
	size_t i;

	for (i = 0; i < FUNCTIONS_AHEAD_TABLES; i++)
		drop(a, i);
}
