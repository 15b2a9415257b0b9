/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verifies the segments of a history: that their checksums are right, and that the samples of each
 * are the sum of its slices, and its totals the sums of their counts.
 *
 *	char *text = history_check(samples, &history_flat, &err);
 *	if (text)
 *		puts(text);
 *	if (err.code)
 *		log_warn("%s", err.text);
 *	free(text);
 */
#pragma once

struct error;
struct history_kind;

/* Describes what is wrong with the segments of a history of the session at @samples, one after the
 * other, and how many idle files were set apart as damaged, separated by "; ". NULL if nothing is;
 * the caller frees. What cannot be read is not damaged: @err, which has no code before, names the
 * first of it. */
char *history_check(const char *samples, const struct history_kind *kind, struct error *err);
