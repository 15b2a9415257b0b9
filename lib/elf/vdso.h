/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The vdso of this process, which is that of all 64-bit processes of this boot. */
#pragma once

#include "base/error.h"

#include <stdint.h>

/* Where it is; NULL if there is none. */
void *vdso_image(void);
/* Bytes that it takes in memory; 0 if there is none. */
uint64_t vdso_size(void);
/* Writes its ELF image to @path unless there is such a file; 0 or -errno. */
int vdso_save(const char *path, struct error *err);
