/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removes images from the manifest of a session that nothing in the session refers to any more, so
 * that it does not grow with the programs that ran once. Somebody else than its writer, who has
 * more time, finds them and leaves their names in a file. The writer removes those that it has not
 * used meanwhile.
 *
 *	manifest_unused_clear(samples);		the writer, and notes what it uses
 *	manifest_unused_write(samples, is_referred_to, data);	somebody else
 *	manifest_unused_drop(samples, &choice, err);		the writer
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Removes the list of a run that was killed. */
void manifest_unused_clear(const char *samples);
/* Lists the images in the manifest of the session at @samples for which @is_used returns false, if
 * it is large and they are many. Returns their number, or -errno. */
ssize_t manifest_unused_write(const char *samples, bool (*is_used)(const char *name, void *data),
			      void *data);

struct manifest_choice {
	bool (*is_used)(const char *name, void *data); /* meanwhile */
	void (*dropped)(const char *name, void *data); /* is called with each that was removed */
	void *data;
};
/* Removes the listed images that were not used, and the list. The manifest is another file then.
 * Returns their number, 0 also if there is no list; or -errno: nothing was removed. */
ssize_t manifest_unused_drop(const char *samples, const struct manifest_choice *choice,
			     struct error *err);
