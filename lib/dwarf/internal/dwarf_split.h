/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Split DWARF: units that the compiler wrote to separate files (.dwo), or that were packed into one
 * file (.dwp). The binary has a skeleton of each unit, with the name of the file and the id of the
 * unit.
 *
 *	struct dwarf_split *s = dwarf_split_new(elffile_path(ef), elffile_path(debug));
 *	unit = dwarf_split_find(s, skeleton);
 *	dwarf_split_free(s);
 */
#pragma once

#include "dwarf/internal/dwarf_file.h"

struct dwarf_split;

/* For the binary @path and its debug file, or NULL; FILE.dwp is searched next to both. Caller
 * frees. */
struct dwarf_split *dwarf_split_new(const char *path, const char *debug);
/* NULL is fine. */
void dwarf_split_free(struct dwarf_split *s);

/* Whether the entries of @u are in another file. */
bool dwarf_is_skeleton(const struct dwarf_unit *u);
/* The unit with the entries of @skeleton: from FILE.dwp, else from the .dwo file at its original
 * path or next to the binary. NULL if none has the skeleton's id. */
struct dwarf_unit *dwarf_split_find(struct dwarf_split *s, struct dwarf_unit *skeleton);
