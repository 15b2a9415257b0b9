/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/page/internal/page_files.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "profile/page/page.h"
#include "profile/print/report.h"
#include "profile/rows/row_places.h"

#include <stdlib.h>
#include <string.h>

uint32_t page_files_number(struct page_files *f, const char *path)
{
	uint64_t hash = path ? hash_bytes(path, strlen(path)) : 0;
	uintptr_t number;

	if (!path)
		return 0;
	map_for_each_of(&f->by_hash, hash, number)
	{
		if (!strcmp(f->list[number - 1], path))
			return (uint32_t)number;
	}
	array_grow(&f->list, f->count + 1, &f->room);
	f->list[f->count++] = path;
	map_add(&f->by_hash, hash, (void *)f->count);
	return (uint32_t)f->count;
}

void page_files_write(const struct page_files *f, struct json *j)
{
	size_t i;

	json_open(j, "files", '[');
	for (i = 0; i < f->count; i++)
		json_bytes(j, NULL, f->list[i]);
	json_close(j, ']');
}

void page_files_done(struct page_files *f)
{
	free(f->list);
	map_done(&f->by_hash);
	*f = (struct page_files){ 0 };
}

/* --- an answer of its own --- */

static bool has_file(const struct row *row)
{
	return row->kind == ROW_SYMBOL && row->place.file;
}

/* Writes the functions of one image, from number @i of the list on; returns where another image
 * begins. */
static size_t write_image(const struct report *r, struct page_files *files, const struct row **list,
			  size_t i, struct json *j)
{
	const uint32_t image = list[i]->image;
	size_t end = i, k;
	uint64_t last = 0;

	json_open(j, NULL, '{');
	json_bytes(j, "path", gather_image_name(r->gather, image, true));
	json_open(j, "after", '[');
	for (; list[end] && list[end]->image == image; last = list[end++]->address)
		json_u64(j, NULL, list[end]->address - last);
	json_close(j, ']');
	json_open(j, "file", '[');
	for (k = i; k < end; k++)
		json_u64(j, NULL, page_files_number(files, list[k]->place.file));
	json_close(j, ']');
	json_close(j, '}');
	json_line(j);
	return end;
}

void page_files(const struct report *r, FILE *out)
{
	const struct container *c = r->container;
	_cleanup_free_ const struct row **list = xcalloc(c->count + 1, sizeof(*list));
	_cleanup_(page_files_done) struct page_files files = { 0 };
	struct json j = JSON_INIT(out);
	size_t i, n = 0;

	for (i = 0; i < c->count; i++)
		if (has_file(&c->rows[i]))
			list[n++] = &c->rows[i];
	qsort(list, n, sizeof(*list), row_places_compare);
	json_open(&j, NULL, '{');
	json_open(&j, "images", '[');
	for (i = 0; i < n;)
		i = write_image(r, &files, list, i, &j);
	json_close(&j, ']');
	json_line(&j);
	page_files_write(&files, &j);
	json_close(&j, '}');
}
