/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vdso of this process, which is the same in all 64-bit processes until the next boot, and that
 * of 32-bit processes. A process can change its own copy, so no other process's is read.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Its address in memory; NULL if there is none. */
void *vdso_image(void);
/* Its size in memory in bytes; 0 if there is none. */
uint64_t vdso_size(void);
/* Writes its ELF image to @path unless that exists; 0 or -errno. */
int vdso_save(const char *path, struct error *err);

/* Reads the ELF image for 32-bit processes, which the kernel maps into a child process. 0 with
 * *@ret of *@ret_size bytes, caller frees; or -errno, if this kernel has none or maps none. */
int vdso_read_32(void **ret, size_t *ret_size);
/* Reads it now, for later calls of vdso_read_32(). For a process that will be allowed no children;
 * called while it has one thread. */
void vdso_hold_32(void);
/* Writes it to @path unless that exists; 0 or -errno. */
int vdso_save_32(const char *path, struct error *err);
