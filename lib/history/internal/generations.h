/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of a history, samples/NAME/history/N.names and N.slices, and the lines of names.
 */
#pragma once

#include "history/history_name.h"

#include <stddef.h>
#include <stdint.h>

struct strbuf;

/* The paths of generation @number; the caller frees. */
char *generation_names_path(const char *dir, uint32_t number);
char *generation_slices_path(const char *dir, uint32_t number);
/* The number of the next generation: greater than that of any file in @dir. */
uint32_t generations_next(const char *dir);
/* The numbers of the generations in @dir, ascending; the caller frees. */
uint32_t *generations_list(const char *dir, size_t *ret_count);

/* Deletes the generations that were last written before @since_s, in seconds since 1970. */
void generations_expire(const char *dir, int64_t since_s);

/* Adds the line of a name; @path is that of the sample file (sname_mangle()). */
void generation_add_name(struct strbuf *out, const struct history_name *name, const char *path);
/* Parses a line, in place. Returns 0, with the path in *@ret_path, or -EBADMSG. */
int generation_parse_name(char *line, struct history_name *ret, char **ret_path);
