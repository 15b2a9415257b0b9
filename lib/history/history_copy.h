/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies a part of the history of a session, slice by slice: those of a window of time, with the
 * counts of some sample files.
 *
 *	const struct history_copying what = { &window, is_wanted, data };
 *	r = history_copy(samples, &what, "archive/samples/current", &damaged, err);
 */
#pragma once

#include "base/error.h"
#include "history/window.h"

#include <stdbool.h>

struct sname;

struct history_copying {
	const struct window *window;
	/* Whether the counts of a sample file are wanted. */
	bool (*wanted)(const struct sname *name, void *data);
	void *data;
};

/* Writes the slices of the session at @from that are in the window to a history below @to, which
 * must have none. Slices keep their lengths, and their numbers of samples, which are those of all
 * sample files. *@ret_damaged: bytes that could not be read. 0 or -errno: -ENOENT if the session
 * has no history; -EAGAIN if it was rolled up meanwhile too often. */
int history_copy(const char *from, const struct history_copying *what, const char *to,
		 size_t *ret_damaged, struct error *err);
