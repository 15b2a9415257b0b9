/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the samples of a session as perf record would, so that perf report can be measured with
 * the same addresses: one process that has one file mapped as a whole. Each sample has a call chain
 * of one frame, because perf shows inlined calls only in chains.
 *
 *	struct perfdata *p = perfdata_create("perf.data", image, image_size, &err);
 *	perfdata_add(p, offset, count);
 *	r = perfdata_close(p, &err);
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

struct perfdata;

/* Creates a file at @path for samples of the file @image, which is @image_size bytes long. */
int perfdata_create(const char *path, const char *image, uint64_t image_size, struct perfdata **ret,
		    struct error *err);
/* Adds a sample that counts for @count, at @offset in the image. */
void perfdata_add(struct perfdata *p, uint64_t offset, uint64_t count);
/* Writes the rest of the file and frees @p. */
int perfdata_close(struct perfdata *p, struct error *err);
