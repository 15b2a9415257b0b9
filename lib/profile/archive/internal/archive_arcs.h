/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call graph files for an archive, made of a session's call chains: the original's reports know no
 * other ones, and they can be narrowed as sample files can.
 */
#pragma once

#include "base/error.h"

struct gather;
struct gather_file;

/* Adds the arcs of @f, which is made of chains, to their file below @directory. 0 with its path in
 * *@ret, below @directory and then the session's name as it would be in the session; caller frees.
 * Or -errno. */
int archive_arcs_write(const struct gather *g, const struct gather_file *f, const char *directory,
		       char **ret, struct error *err);
