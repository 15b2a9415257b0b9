/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of kernel and modules for a report: from the copy of kallsyms in the session, else that
 * in the archive, else of the kernel that runs now if it is the one that was profiled; of a module
 * that is in none of them from its file, in the image paths or in /lib/modules. Each source is read
 * once a report.
 */
#pragma once

#include <stdbool.h>

struct elffile;
struct filefind;
struct gather;
struct gather_image;
struct kernel_binaries;
struct symcache;
struct symtab;

struct kernel_binaries_config {
	const char *root;	/* before every path; "" for this machine */
	struct filefind *found; /* files to search for modules and vmlinux */
	struct symcache *cache; /* for what is read of kallsyms; or NULL */
	bool code;		/* files with code are wanted, and come first */
	const char *vmlinux;	/* with @code: the kernel's, or NULL */
};

/* What is known of the kernel or a module. */
struct kernel_binary {
	struct symtab *symtab; /* NULL where there are none: why is warned of once */
	struct elffile *file;  /* with the code, held by ->symtab; or NULL */
	const char *no_code;   /* why, where code was wanted and there is none; a literal */
};

/* Sources for the sessions of @g, which is borrowed as is all that @config points at. Caller frees.
 */
struct kernel_binaries *kernel_binaries_new(const struct gather *g,
					    const struct kernel_binaries_config *config);
/* NULL is fine. */
void kernel_binaries_free(struct kernel_binaries *k);

/* Opens the kernel ("/proc/kallsyms") or a module; the caller frees ->symtab. */
void kernel_binaries_open(struct kernel_binaries *k, const struct gather_image *image,
			  struct kernel_binary *ret);
