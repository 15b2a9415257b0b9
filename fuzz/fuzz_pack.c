/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compact archives from any source: lib/profile/compact/internal/unpack.c. The input is compressed
 * first, to reach the code for the contents, and is also used as it is if it looks like a pack. */
#include "fuzz.h"
#include "fuzz_directory.h"

#include "base/mem.h"
#include "profile/compact/pack.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

static void try_bytes(const void *bytes, size_t size)
{
	_cleanup_free_ char *path = path_join(directory, "pack"),
			    *out = path_join(directory, "out");
	_cleanup_free_ char *outside = path_join(directory, "outside");
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	(void)mkdir(out, 0700);
	if (fd >= 0 && write(fd, bytes, size) == (ssize_t)size)
		(void)pack_unpack(path, out, 0, NULL); /* must not crash, nor write elsewhere */
	if (fd >= 0)
		(void)close(fd);
	if (access(outside, F_OK) == 0)
		abort();
	if (rmdir(out) < 0)
		(void)path_remove_tree(out, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
	size_t room = ZSTD_compressBound(size);
	_cleanup_free_ char *compressed = xmalloc(room);

	if (!make_directory())
		return 0;
	if (size >= sizeof(magic) && !memcmp(data, magic, sizeof(magic)))
		try_bytes(data, size);
	room = ZSTD_compress(compressed, room, data, size, 1);
	if (!ZSTD_isError(room))
		try_bytes(compressed, room);
	return 0;
}
