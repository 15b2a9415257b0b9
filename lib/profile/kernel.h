/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of kernel and modules for a report: from the copy of kallsyms in the session, else that
 * in the archive, else of the kernel that runs now if it is the one that was profiled; of a module
 * that is in none of them from its file, in the image paths or in /lib/modules. Each source is read
 * once a report.
 */
#pragma once

struct filefind;
struct gather;
struct gather_image;
struct kernels;
struct symcache;
struct symtab;

/* Sources for the sessions of @g, which is borrowed as are the root, the index of files to search
 * for modules, and the cache (or NULL) for what is read of kallsyms. Caller frees. */
struct kernels *kernels_new(const struct gather *g, const char *root, struct filefind *found,
			    struct symcache *cache);
void kernels_free(struct kernels *k);

/* The symbols of the kernel ("/proc/kallsyms") or a module; caller frees. NULL where there are
 * none: why is warned of once. */
struct symtab *kernels_symbols(struct kernels *k, const struct gather_image *image);
