/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counts of a file of the gather, wherever they are: in a sample file, in the call chains of a
 * session, which hold the arcs that would be in a call graph file, or in the history of a session,
 * which holds what a sample file counted in a window of time.
 *
 *	if (file_counts_open(file, &c, err) == 0)
 *		sum = file_counts_read(c, class, &samples);
 *	file_counts_close(c);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "sfile/sfile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gather;
struct gather_file;
struct samples;

struct file_counts;

/* Opens the counts of @f, which is borrowed, as is its gather. 0, the caller closes; or -errno.
 * Without @err a failure of the machine, which may be over when the file is opened again, is
 * logged; damage is not, because whoever reads the samples reports it. */
int file_counts_open(const struct gather_file *f, struct file_counts **ret, struct error *err);
/* NULL is fine. */
void file_counts_close(struct file_counts *c);
DEFINE_CLEANUP(struct file_counts *, file_counts_close);

/* The header of the sample file, or what it would be; borrowed. That of arcs has no time of the
 * image. */
const struct sfile_header *file_counts_header(const struct file_counts *c);
/* The same without opening the counts for longer. 0 or -errno. */
int file_counts_read_header(const struct gather_file *f, struct sfile_header *ret,
			    struct error *err);

/* Whether callees in a file of arcs may have entered the kernel at their offsets. Sample files do
 * not tell those from code that executed. Callees that wait for a call have an offset in the
 * call. */
bool file_counts_callees_enter(const struct gather_file *f);

/* Counts whose offsets were too rare for the history to keep more of them than their function
 * (ophistory(5)) are at its start from now on, for who wants functions only. Else they have the
 * offset SAMPLE_RARE. */
void file_counts_at_functions(struct file_counts *c);
/* Adds the counts to @s as those of @class, with the file's keys as offsets; returns their sum. If
 * time is divided into steps, @class is that of the first one, and the others follow. */
uint64_t file_counts_read(struct file_counts *c, uint32_t class, struct samples *s);
/* The same, but from count number *@at on, which it advances, until @s contains @most samples;
 * false at the end. */
bool file_counts_read_some(struct file_counts *c, uint32_t class, struct samples *s, size_t *at,
			   size_t most);
/* The sum alone, without keeping the counts. */
uint64_t file_counts_sum(struct file_counts *c);
/* Adds the sum to @sums[@class], or the sum of each step to that of its class. */
void file_counts_add_sums(struct file_counts *c, uint32_t class, uint64_t *sums);

/* Writes the counts of @f, which are in no sample file, to one below @directory, so that an archive
 * has files that OProfile 1.x understands. 0 with its path in *@ret, which is @directory, the
 * session's name, and the path that it would have in the session; caller frees. Or -errno. */
int file_counts_write(const struct gather *g, const struct gather_file *f, const char *directory,
		      char **ret, struct error *err);
