/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of a kernel module: found by the module's name, which is not quite that of the file.
 *
 *	symtab = module_file_load(found, image, &file);
 */
#pragma once

struct elffile;
struct filefind;
struct gather_image;
struct symtab;

/* A module's symbols from its file among those @found; the table owns the file. Files are named
 * with '-' or '_' as their authors liked, loaded modules with '_' only. NULL if there is none that
 * can be the one that was profiled; the caller frees. */
struct symtab *module_file_load(struct filefind *found, const struct gather_image *image,
				struct elffile **ret_file);
