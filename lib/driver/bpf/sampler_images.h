/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files as the sampling program names them, by what the kernel knows them by, to cookies.
 *
 *	struct sampler_images *images = sampler_images_new("", cookies);
 *	sampler_images_add(images, message);
 *	cookie = sampler_images_cookie(images, &file, tgid, now_ns);
 */
#pragma once

#include "bpf/sample.h"
#include "identity/cookie.h"

#include <stdint.h>

struct sampler_images;

/* An empty table; @root is where /proc lies, copied; @cookies is borrowed. Caller frees. */
struct sampler_images *sampler_images_new(const char *root, struct cookie_table *cookies);
/* NULL is fine. */
void sampler_images_free(struct sampler_images *t);

/* Takes in a file that was seen for the first time, or again; looks at it at once, while the
 * process can still show it. */
void sampler_images_add(struct sampler_images *t, const struct sample_image *image);

/* The cookie to count a sample of process @tgid under, EVBUF_NO_COOKIE if nobody told of the file.
 */
uint64_t sampler_images_cookie(struct sampler_images *t, const struct sample_file *file,
			       uint32_t tgid, uint64_t now_ns);

/* Calls @each with every file whose number could be given to another without anybody seeing it: its
 * file system keeps no generations. */
void sampler_images_unsure(const struct sampler_images *t,
			   void (*each)(const struct sample_file *file, void *data), void *data);

/* The path in @image as a process sees it; caller frees. */
char *sampler_image_path(const struct sample_image *image);
/* Opens the file that @image tells of; a descriptor that the caller closes, or -1. */
int sampler_image_open(const struct sample_image *image);
