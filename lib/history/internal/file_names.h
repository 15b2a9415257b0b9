/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the lines of names of a history. Each part of a name, and each header, is stored once.
 *
 *	struct file_names n = FILE_NAMES_INIT;
 *	struct history_file file = { 0 };
 *	if (file_names_parse(&n, line, &file) == 0)
 *		puts(file.name.image->name);
 *	file_names_done(&n);
 */
#pragma once

#include "history/history_name.h"
#include "sfile/sname_pool.h"

struct file_names {
	struct sname_pool pool;
	struct arena headers;
	struct map by_header; /* of these */
	/* What was parsed last: most names have the header of the one before. */
	struct sfile_header columns;	 /* without what is in the path */
	const struct sfile_header *last; /* NULL: none was */
	char *text;			 /* these columns, as they were written */
	size_t length, room;
	char *path; /* without escapes */
	size_t path_room;
};

#define FILE_NAMES_INIT ((struct file_names){ 0 })

/* Sets the name and the header of a sample file to those of @line, which belong to @n. 0 or
 * -EBADMSG. */
int file_names_parse(struct file_names *n, const char *line, struct history_file *ret);
/* Frees all; it is usable again. */
void file_names_done(struct file_names *n);
