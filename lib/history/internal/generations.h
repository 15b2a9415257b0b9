/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of a history, samples/NAME/history/N.names and N.slices, and the lines of names.
 */
#pragma once

#include "history/history_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct segment;
struct strbuf;

/* The paths of generation @number; the caller frees. */
char *generation_names_path(const char *dir, uint32_t number);
char *generation_slices_path(const char *dir, uint32_t number);
/* Adds the line of a name; @path is that of the sample file (sname_mangle()). */
void generation_add_name(struct strbuf *out, const struct history_name *name, const char *path);
/* Parses the columns of a line before its path, in place. 0 or -EBADMSG. */
int generation_parse_columns(char *columns, struct sfile_header *ret);
/* Parses a line, in place; the caller calls sname_done(). Returns 0, with the path in *@ret_path,
 * or -EBADMSG. Of many lines: internal/file_names.h. */
int generation_parse_name(char *line, struct history_name *ret, char **ret_path);

/* Is called with each line of a file of names, in order, which is NULL if there is a NUL in it, and
 * its bytes. */
typedef void generation_line(char *line, size_t bytes, void *data);
/* Reads the names at @path; none if they are damaged. 0, or -errno if they cannot be read. */
int generation_each_line(const char *path, generation_line *each, void *data);

/* The content of a slice; ->lines is the number of names. */
struct generation_content {
	const uint8_t *bytes;
	size_t size, lines;
};
/* Is called with each count, by line, from 1 on, and key. */
typedef void generation_count(uint32_t line, uint64_t key, uint64_t count, void *data);
/* Reads the counts of a slice; false if they are damaged: then some are not read. */
bool generation_each_count(const struct generation_content *c, generation_count *each, void *data);

/* Reads the closed generation @number into a segment in memory, which the caller frees. 0 or
 * -errno; what is damaged is left out, and its bytes are added to *@damaged. */
int generation_to_segment(const char *dir, uint32_t number, struct segment **ret, size_t *damaged);

/* The same of the sample files below @samples, whose counts are one slice, of generation 1. Nobody
 * must write to them. Damaged ones are repaired; those that cannot be are left out, and their paths
 * are added to @damaged, each with its NUL. -errno also if any cannot be read for other reasons. */
int files_to_segment(const char *samples, struct segment **ret, struct strbuf *damaged);

/* What the line of a rarely sampled file is folded into: on rung 0 its program becomes "other
 * programs", on rung 1 the libraries and kernels of these, too (segment_other()). */
char *generation_other(const char *line, unsigned int rung, bool *ret_same);
/* The same, of all processes, threads, CPUs and cgroups together, so that few names stay. */
char *generation_other_task(const char *line, unsigned int rung, bool *ret_same);
