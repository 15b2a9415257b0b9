/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the counts of a file of the gather: of a sample file, flat or with arcs, or of a call graph
 * file that does not exist but whose arcs are in a session's call chains (chains/chain_arcs.h).
 *
 *	if (callgraph_arcs_read(file, class, &samples, &header, err) == 0)
 *		samples_sort(&samples);
 */
#pragma once

#include "base/error.h"
#include "sfile/sfile.h"

#include <stdint.h>

struct gather;
struct gather_file;
struct samples;

/* Reads the file's header, or composes it for chains, without the image's time. Returns 0 or
 * -errno. */
int callgraph_arcs_header(const struct gather_file *f, struct sfile_header *ret, struct error *err);
/* The same, and adds the counts to @s as those of @class, with the file's keys as offsets. */
int callgraph_arcs_read(const struct gather_file *f, uint32_t class, struct samples *s,
			struct sfile_header *ret, struct error *err);
/* Adds the arcs of @f, which are from chains, to a call graph file below @directory, so that an
 * archive has files that OProfile 1.x understands. 0 with its path in *@ret, which is @directory,
 * the session's name, and the path that it would have in the session; caller frees. Or -errno. */
int callgraph_arcs_write(const struct gather *g, const struct gather_file *f, const char *directory,
			 char **ret, struct error *err);
