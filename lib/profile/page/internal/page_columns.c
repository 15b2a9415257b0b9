/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/page/internal/page_columns.h"

#include "base/json.h"
#include "base/macro.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Where a column of so many bytes ends, with padding. */
static size_t padded(size_t bytes)
{
	return (bytes + 3) & ~(size_t)3;
}

static void put(uint8_t *to, uint32_t value, size_t width)
{
	for (; width; width--, value >>= 8)
		*to++ = (uint8_t)value;
}

uint32_t *page_columns_begin(struct page_columns *c, const char *name, size_t count)
{
	uint32_t *numbers;
	size_t i = 0;

	while (i < c->count && strcmp(c->list[i].name, name) != 0)
		i++;
	assert(i < PAGE_COLUMNS_MAX);
	if (i < c->count)
		free(c->list[i].bytes);
	c->count = MAX(c->count, i + 1);
	c->current = i;
	numbers = xcalloc_whole(count + 1, sizeof(*numbers));
	c->list[i] = (struct page_column){ name, count, 4, (uint8_t *)numbers };
	return numbers;
}

/* Bytes that the largest number needs: 1, 2 or 4. */
static size_t width_of(const uint32_t *numbers, size_t count)
{
	uint32_t all = 0;
	size_t i;

	for (i = 0; i < count; i++)
		all |= numbers[i];
	return all > UINT16_MAX ? 4 : all > UINT8_MAX ? 2 : 1;
}

void page_columns_end(struct page_columns *c)
{
	struct page_column *last = &c->list[c->current];
	const uint32_t *numbers = (const uint32_t *)(const void *)last->bytes;
	size_t i, bytes;

	last->width = width_of(numbers, last->count);
	bytes = last->count * last->width;
	for (i = 0; i < last->count; i++) /* no number is overwritten that is still to be read */
		put(last->bytes + i * last->width, numbers[i], last->width);
	for (i = bytes; i < padded(bytes); i++)
		last->bytes[i] = 0;
	last->bytes = xrealloc(last->bytes, padded(bytes) + 1);
}

void page_columns_list(const struct page_columns *c, struct json *j)
{
	size_t at = 0, i;

	json_open(j, "columns", '[');
	for (i = 0; i < c->count; i++) {
		const struct page_column *one = &c->list[i];

		json_open(j, NULL, '[');
		json_string(j, NULL, one->name);
		json_u64(j, NULL, one->width);
		json_u64(j, NULL, at);
		json_u64(j, NULL, one->count);
		json_close(j, ']');
		at += padded(one->count * one->width);
	}
	json_close(j, ']');
}

void page_columns_print(const struct page_columns *c, FILE *out)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		(void)fwrite(c->list[i].bytes, 1, padded(c->list[i].count * c->list[i].width), out);
}

void page_columns_number(uint32_t value, size_t width, FILE *out)
{
	uint8_t bytes[sizeof(value)];

	put(bytes, value, width);
	(void)fwrite(bytes, 1, width, out);
}

void page_columns_done(struct page_columns *c)
{
	while (c->count)
		free(c->list[--c->count].bytes);
}
