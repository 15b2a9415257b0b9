/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arcs of a file of the gather that has a callee: out of a call graph file, or what one would
 * hold that was made of a session's call chains (sfile/chain_arcs.h).
 */
#pragma once

#include "base/error.h"
#include "sfile/sfile.h"

#include <stdint.h>

struct gather_file;
struct samples;

/* What the file's header says, or would: of an image in chains its time is not known. 0 or -errno.
 */
int arcs_header(const struct gather_file *f, struct sfile_header *ret, struct error *err);
/* The same, and adds the arcs to @s as those of @class, with the file's keys as offsets. */
int arcs_read(const struct gather_file *f, uint32_t class, struct samples *s,
	      struct sfile_header *ret, struct error *err);
