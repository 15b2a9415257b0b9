/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mem.h"
#include "file/path.h"
#include "tools/opcheck/opcheck.h"

#include <string.h>

char *place_session(const char *samples)
{
	_cleanup_free_ char *whole = xrealpath(samples);
	char *slash = whole ? strrchr(whole, '/') : NULL;

	if (!slash)
		return NULL;
	*slash = '\0';
	slash = strrchr(whole, '/');
	if (!slash || strcmp(slash, "/samples") != 0)
		return NULL;
	*(slash == whole ? slash + 1 : slash) = '\0';
	return STEAL(whole);
}

bool place_has(const char *dir, const char *name)
{
	_cleanup_free_ char *path = path_join(dir, name);

	return access(path, F_OK) == 0;
}

bool place_is_samples(const char *dir)
{
	static const char *const names[] = { "{root}", "{kern}", "stats", "images", "chains" };
	size_t i = 0;

	while (i < ARRAY_SIZE(names) && !place_has(dir, names[i]))
		i++;
	return i < ARRAY_SIZE(names);
}

int place_become_owner(const char *path, bool is_directory, enum owner_extent extent, char **ret,
		       struct error *err)
{
	_cleanup_free_ char *at = xrealpath(path);
	bool go_up = !is_directory;
	int r = 0;

	while (r == 0 && at && *at) {
		r = owner_become(at, extent, NULL, err);
		if (!go_up && (place_has(at, "samples") || !strstr(at, "/samples")))
			break;
		go_up = false;
		*strrchr(at, '/') = '\0';
	}
	if (r == 0)
		*ret = STEAL(at);
	return r;
}
