/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of all sample files that the history of a session has counts of, and of those that were
 * merged in idle/ (sfile/idle.h).
 *
 *	r = history_each_name(samples, note_images, &images);
 */
#pragma once

struct sname;

/* Calls @each with each name in the session at @samples, some of them several times. Damaged ones
 * are left out. 0, or -errno: some could not be read. */
int history_each_name(const char *samples, void (*each)(const struct sname *name, void *data),
		      void *data);
