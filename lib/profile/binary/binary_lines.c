/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source lines of a binary, who may name sources, and how old they can be. */
#include "base/log.h"
#include "dwarf/kept_lines.h"
#include "dwarf/lines.h"
#include "elf/elffile.h"
#include "profile/binary/binary.h"
#include "sfile/sfile.h"
#include "symbol/function_file.h"

#include <errno.h>

struct lines *binary_lines(const struct binary *b)
{
	struct kept_lines kept = { 0 };
	struct error err = ERROR_INIT;
	int r;

	if (b->file)
		return lines_new(b->file, b->debug);
	r = b->kept ? function_file_read_lines(b->kept, &kept, &err) : -ENODATA;
	if (r < 0 && r != -ENODATA && r != -ENOENT)
		log_warn("%s", err.text);
	return lines_new_kept(&kept);
}

uid_t binary_owner(const struct binary *b)
{
	return b->file ? elffile_owner(b->file) : (uid_t)-1;
}

uint64_t binary_built(const struct binary *b, const struct sfile_header *header)
{
	return b->file ? MAX(elffile_mtime(b->file), header->mtime) : 0;
}
