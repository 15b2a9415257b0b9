/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is in a file of the gather: a sample file, flat or of arcs, or the arcs that one would hold
 * which was made of a session's call chains (chains/chain_arcs.h).
 */
#pragma once

#include "base/error.h"
#include "sfile/sfile.h"

#include <stdint.h>

struct gather_file;
struct samples;

/* What the file's header says, or would: of an image in chains its time is not known. 0 or -errno.
 */
int callgraph_arcs_header(const struct gather_file *f, struct sfile_header *ret, struct error *err);
/* The same, and adds the counts to @s as those of @class, with the file's keys as offsets. */
int callgraph_arcs_read(const struct gather_file *f, uint32_t class, struct samples *s,
			struct sfile_header *ret, struct error *err);
