/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory for targets that read files. */
#pragma once

#include "file/path.h"

#include <stdbool.h>
#include <stdlib.h>

/* One directory for all inputs; making it is most of the work otherwise. */
static char directory[] = "/tmp/opfuzz-XXXXXX";

static void remove_directory(void)
{
	(void)path_remove_tree(directory, NULL);
}

static bool make_directory(void)
{
	static bool made;

	if (made)
		return true;
	made = mkdtemp(directory) != NULL && atexit(remove_directory) == 0;
	return made;
}
