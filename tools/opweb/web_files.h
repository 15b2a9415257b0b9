/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source files that the functions of a page begin in: debug information is read when a page
 * asks for them.
 *
 *	r = web_files_print(&config, inlines, words, err);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct profile_config;

/* Prints the files of all functions of the profile that @words select, on standard output, as
 * page_files() does; with @inlines, also of inlined ones. 0, or negative with the reason. */
int web_files_print(const struct profile_config *config, bool inlines, char *const *words,
		    struct error *err);
