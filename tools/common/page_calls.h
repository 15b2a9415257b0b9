/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who calls what, for the code of some functions on a page.
 *
 *	const struct page_function functions[] = { { "/usr/bin/xz", 0x1160 } };
 *	struct chain_calls *calls = page_calls(profile, profile->binaries, functions, 1);
 *	chain_calls_free(calls);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct binaries;
struct chain_calls;
struct profile;

/* A function: the long name of its image, and an address in it. */
struct page_function {
	const char *image;
	uint64_t address;
};

/* Reads who calls what in @count functions, for the annotation of a profile whose call chains are
 * open (chain_calls.h) and whose code @bs has; NULL if no call chain has them, or there are several
 * events, or, after a warning, if the chains cannot be read. Caller frees. */
struct chain_calls *page_calls(struct profile *p, struct binaries *bs,
			       const struct page_function *functions, size_t count);
