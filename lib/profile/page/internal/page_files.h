/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source files that functions of a page begin in, each numbered once, from 1 on. Paths are
 * borrowed.
 *
 *	struct page_files files = { 0 };
 *	number = page_files_number(&files, row->place.file);
 *	page_files_write(&files, &json);
 *	page_files_done(&files);
 */
#pragma once

#include "base/map.h"

#include <stdint.h>

struct json;

struct page_files {
	const char **list;
	size_t count, room;
	struct map by_hash; /* of the path: number */
};

/* The number of a file; 0 for NULL: it is not known. */
uint32_t page_files_number(struct page_files *f, const char *path);
/* Writes the paths, as member "files" of an open object. */
void page_files_write(const struct page_files *f, struct json *j);
void page_files_done(struct page_files *f);
