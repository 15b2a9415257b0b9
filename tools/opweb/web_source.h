/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers a request for a function's source and instructions: "source/ADDRESS/TIME/IMAGE", with
 * the address of the function in its image, and FROM..TO or "all". The image is a path or a name
 * such as "[JIT node]".
 *
 *	r = web_source_print(&config, &names, words, "source/0x116e/all//usr/bin/true", err);
 */
#pragma once

#include "base/error.h"

struct name_style;
struct profile_config;

/* Prints the function as JSON on standard output, with its samples in the profile that the words
 * select, which end with NULL. 0 or -errno. */
int web_source_print(const struct profile_config *config, const struct name_style *names,
		     char *const *words, const char *question, struct error *err);
