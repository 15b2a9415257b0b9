/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded event streams: lib/stream/stream_file.c. */
#include "fuzz.h"

#include "identity/cookie.h"
#include "stream/stream_file.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(stream_file_reader_closep) struct stream_file_reader *reader = NULL;
	_cleanup_close_ int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct cookie_table *cookies = cookie_table_new();
	const uint64_t *words;
	char path[64];
	size_t count;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && write(fd, data, size) == (ssize_t)size &&
	    stream_file_open(path, &reader, NULL) == 0)
		while (stream_file_next(reader, cookies, &words, &count, NULL) > 0)
			;
	cookie_table_free(cookies);
	return 0;
}
