/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that a perf.data names, as cookies with the build-ids that it has for them. A file that
 * is no longer at its path, or another one by now, is looked for in the cache of perf(1).
 *
 *	struct perf_images *images = perf_images_new(file, cookies, "/root/.debug");
 *	cookie = perf_images_cookie(images, "/bin/true", &id);
 *	perf_images_identify(images, cookie);	when it was sampled
 *	perf_images_free(images);
 */
#pragma once

#include "base/macro.h"
#include "file/build_id.h"

#include <stdint.h>

struct cookie_table;
struct perf_file;
struct perf_images;

/* All are borrowed for its life; @cache may be NULL. Caller frees. */
struct perf_images *perf_images_new(const struct perf_file *file, struct cookie_table *cookies,
				    const char *cache);
/* NULL is fine. */
void perf_images_free(struct perf_images *images);
DEFINE_CLEANUP(struct perf_images *, perf_images_free);

/* The cookie of the file @path whose mapping has the build-id @id. */
uint64_t perf_images_cookie(struct perf_images *images, const char *path,
			    const struct build_id *id);
/* Finds the build-id of the file @cookie, and the file, unless that was done. Other cookies are
 * ignored, as is 0. */
void perf_images_identify(struct perf_images *images, uint64_t cookie);

/* The build-id of what the file calls @path, or NULL; borrowed from the file. */
const struct build_id *perf_images_build_id(const struct perf_file *file, const char *path);
