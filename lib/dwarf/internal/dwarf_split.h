/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Split DWARF: the entries of a unit that the compiler wrote into a file of its own (.dwo), or that
 * were packed into one with others (.dwp). The binary keeps a skeleton, which names the file and
 * has the same id as the unit in it.
 *
 *	struct dwarf_split *s = dwarf_split_new(elffile_path(ef), elffile_path(debug));
 *	unit = dwarf_split_find(s, skeleton);
 *	dwarf_split_free(s);
 */
#pragma once

#include "dwarf/internal/dwarf_file.h"

struct dwarf_split;

/* For the binary @path and its debug file, or NULL: FILE.dwp is looked for beside both. Caller
 * frees. */
struct dwarf_split *dwarf_split_new(const char *path, const char *debug);
/* NULL is fine. */
void dwarf_split_free(struct dwarf_split *s);

/* Whether the entries of @u are in another file. */
bool dwarf_is_skeleton(const struct dwarf_unit *u);
/* The unit with the entries of @skeleton: out of FILE.dwp, else out of the .dwo file by the name
 * that it was compiled with, there or beside the binary. NULL where there is none with its id. */
struct dwarf_unit *dwarf_split_find(struct dwarf_split *s, struct dwarf_unit *skeleton);
