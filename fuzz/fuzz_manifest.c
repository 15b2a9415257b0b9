/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The image manifest: lib/sfile/manifest.c. */
#include "fuzz.h"

#include "base/mem.h"
#include "file/path.h"
#include "sfile/manifest.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

/* What is rewritten has no damage, and the image that was named last. */
static void rewrite(const char *dir)
{
	_cleanup_(manifest_closep) struct manifest *m = NULL, *again = NULL;

	if (manifest_open(dir, false, &m, NULL) < 0 || manifest_rewrite(m, NULL) < 0 ||
	    manifest_open(dir, false, &again, NULL) < 0 || manifest_damaged(again) ||
	    !manifest_find(again, "/a"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char dir[] = "/tmp/opfuzz-XXXXXX";
	static const struct manifest_image image = { .path = "/a", .file = { 1, 2, 3 } };
	_cleanup_(manifest_closep) struct manifest *m = NULL;
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;

	if (!mkdtemp(dir))
		return 0;
	path = path_join(dir, "images");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0 && write(fd, data, size) == (ssize_t)size &&
	    manifest_open(dir, true, &m, NULL) == 0) {
		if (!manifest_name(m, &image, NULL))
			abort();
		rewrite(dir);
	}
	(void)unlink(path);
	(void)rmdir(dir);
	return 0;
}
