/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/modules.h"

#include "base/path.h"

#include <sys/stat.h>

bool modules_changed(const char *root, uint64_t *count)
{
	_cleanup_free_ char *path = path_under(root, "/sys/module");
	uint64_t before = *count;
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	*count = st.st_nlink;
	return before && before != *count;
}
