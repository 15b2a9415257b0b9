/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The image manifest: lib/sfile/manifest.c. */
#include "fuzz.h"

#include "base/mem.h"
#include "base/path.h"
#include "sfile/manifest.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char dir[] = "/tmp/opfuzz-XXXXXX";
	_cleanup_(manifest_closep) struct manifest *m = NULL;
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	size_t i;

	if (!mkdtemp(dir))
		return 0;
	path = path_join(dir, "images");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0 && write(fd, data, size) == (ssize_t)size &&
	    manifest_open(dir, true, &m, NULL) == 0)
		for (i = 0; i < manifest_count(m); i++)
			(void)manifest_name(m, manifest_at(m, i), NULL); /* must not crash */
	(void)unlink(path);
	(void)rmdir(dir);
	return 0;
}
