/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The vdso of this process, which is the same in all 64-bit processes until the next boot. */
#pragma once

#include "base/error.h"

#include <stdint.h>

/* Its address in memory; NULL if there is none. */
void *vdso_image(void);
/* Its size in memory in bytes; 0 if there is none. */
uint64_t vdso_size(void);
/* Writes its ELF image to @path unless that exists; 0 or -errno. */
int vdso_save(const char *path, struct error *err);
