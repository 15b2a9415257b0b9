/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of kernel and modules for a report: from the copy of kallsyms in the session, else from
 * the one in the archive, else from the running kernel if it is the one that was profiled; for a
 * module in none of them, from its file in the image paths or in /lib/modules. Each source is read
 * once per report.
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
	const char *root;	/* prefix of every path; "" for this machine */
	struct filefind *found; /* files to search for modules and vmlinux */
	struct symcache *cache; /* cache for symbols of kallsyms; or NULL */
	bool code;		/* files with code are preferred */
	const char *vmlinux;	/* with @code: the kernel's, or NULL */
};

/* The symbols and the file of the kernel or a module. */
struct kernel_binary {
	struct symtab *symtab; /* NULL if there are none, with one warning */
	struct elffile *file;  /* with the code, held by ->symtab; or NULL */
	const char *no_code;   /* why there is no code, if requested; a literal */
};

/* Creates the sources for the sessions of @g. Borrows @g and everything in @config. Caller
 * frees. */
struct kernel_binaries *kernel_binaries_new(const struct gather *g,
					    const struct kernel_binaries_config *config);
/* NULL is fine. */
void kernel_binaries_free(struct kernel_binaries *k);

/* Opens the kernel ("/proc/kallsyms") or a module; the caller frees ->symtab. */
void kernel_binaries_open(struct kernel_binaries *k, const struct gather_image *image,
			  struct kernel_binary *ret);
