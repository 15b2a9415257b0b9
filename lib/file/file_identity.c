/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/file_identity.h"

#include "base/hash.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

struct file_identity file_identity_of(const struct stat *st)
{
	return (struct file_identity){
		.device = (uint64_t)major(st->st_dev) << 32 | minor(st->st_dev), .inode = st->st_ino
	};
}

static bool equal_or_unknown(uint64_t a, uint64_t b)
{
	return !a || !b || a == b;
}

uint64_t file_version_ctime_ns(const struct stat *st)
{
	return (uint64_t)st->st_ctim.tv_sec * 1000000000 + (uint64_t)st->st_ctim.tv_nsec;
}

bool file_identity_matches(const struct file_identity *a, const struct file_identity *b)
{
	return equal_or_unknown(a->device, b->device) && equal_or_unknown(a->inode, b->inode) &&
	       equal_or_unknown(a->generation, b->generation);
}

uint64_t file_identity_hash(const struct file_identity *f)
{
	return hash_add(hash_add(f->device, f->inode), f->generation);
}
