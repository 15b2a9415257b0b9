/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the code of a kernel can be read: in its vmlinux, which has lines too, else in the memory
 * of the kernel that runs, /proc/kcore.
 *
 *	struct kernel_code_places where = { .root = root, .found = found, .release = "6.1.0-18" };
 *	ef = kernel_code_vmlinux(&where, &build_id);
 */
#pragma once

#include "base/build_id.h"

struct elffile;
struct filefind;

struct kernel_code_places {
	const char *root;	/* before every path; "" for this machine */
	struct filefind *found; /* files below the image paths */
	const char *vmlinux;	/* the file that was named, or NULL */
	const char *release;	/* of the kernel, or NULL where that is not known */
};

/* The vmlinux: the one that was named, one in the image paths, or where distributions install it.
 * With @id (may be NULL, or empty: not known) it must have that build-id. NULL where there is
 * none; one that is another kernel's is warned of. The caller closes. */
struct elffile *kernel_code_vmlinux(const struct kernel_code_places *where,
				    const struct build_id *id);
/* The running kernel's memory, with addresses as in /proc/kallsyms; NULL where that cannot be read.
 * The caller closes. */
struct elffile *kernel_code_core(const struct kernel_code_places *where);
