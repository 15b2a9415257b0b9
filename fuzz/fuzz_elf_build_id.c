/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF headers and notes: lib/elf/elf_build_id.c. */
#include "fuzz.h"

#include "elf/elf_build_id.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct build_id id = { .size = 0 }, same = { .size = 0 };

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (elf_build_id_read_fd(fd, &id) == 0 && (!id.size || id.size > BUILD_ID_MAX))
		abort();
	if (elf_build_id_read(span_of(data, size), &same) == 0 && !build_id_equal(&id, &same))
		abort();
	(void)elf_build_id_from_notes(span_of(data, size), true, &id);
	(void)elf_build_id_from_notes(span_of(data, size), false, &id);
	(void)close(fd);
	return 0;
}
