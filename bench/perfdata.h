/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of a session as perf record would have left them, so that perf report can be measured
 * over the very addresses that ours is: one process that has one file mapped as a whole, each
 *sample with a call chain of one frame, for perf shows inlined calls in chains only.
 *
 *	struct perfdata *p = perfdata_create("perf.data", image, image_size, &err);
 *	perfdata_add(p, offset, count);
 *	r = perfdata_close(p, &err);
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

struct perfdata;

/* A new file at @path of samples of the file @image, @image_size bytes long. */
int perfdata_create(const char *path, const char *image, uint64_t image_size, struct perfdata **ret,
		    struct error *err);
/* One sample that stands for @count, at @offset in the image. */
void perfdata_add(struct perfdata *p, uint64_t offset, uint64_t count);
/* Writes what is left and frees @p. */
int perfdata_close(struct perfdata *p, struct error *err);
