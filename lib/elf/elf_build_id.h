/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the build-id of ELF files and of the running kernel. */
#pragma once

#include "base/span.h"
#include "file/build_id.h"

/* Reads the build-id of the ELF file open as @fd (either byte order and word size, any content
 * tolerated); 0, -ENODATA if it has none, -EBADMSG if it is not an ELF file, or -errno. */
int elf_build_id_read_fd(int fd, struct build_id *ret);
/* The same for a file in memory. */
int elf_build_id_read(struct span file, struct build_id *ret);
/* Finds the build-id in the bytes of ELF notes; 0 or -ENODATA. @big_endian is the file's order. */
int elf_build_id_from_notes(struct span notes, bool big_endian, struct build_id *ret);
/* Reads the running kernel's build-id from /sys/kernel/notes below @root; 0 or -errno. */
int elf_build_id_read_kernel(const char *root, struct build_id *ret);
