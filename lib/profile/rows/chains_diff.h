/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the call chains of two profiles, as diff.h compares rows: function by function, and
 * chain by chain. Chains correspond if they are of corresponding applications, go through
 * corresponding functions, and end for the same reason.
 *
 *	if (chains_compare(first, second, binaries, err) == 0) {
 *		diff_judge(&second->rows, by);
 *		diff_judge(&second->by_line, by);
 *	}
 */
#pragma once

#include "base/error.h"

struct binaries;
struct chains;

/* The binaries of the two profiles. */
struct chains_binaries {
	struct binaries *first, *second;
};

/* Merges the chains of @first into those of @second, whose ->rows and ->by_line then have ->before.
 * Both are collected, and not named yet; @first must live as long. Returns 0, or -EINVAL if they
 * are of different events. */
int chains_compare(struct chains *first, struct chains *second, struct chains_binaries binaries,
		   struct error *err);
