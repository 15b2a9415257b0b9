/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps files, as the BPF sampling program identifies them (by device and inode), to cookies. The
 * caller owns the table and frees it.
 *
 *	struct sampler_images *images = sampler_images_new("", cookies);
 *	sampler_images_add(images, message);
 *	cookie = sampler_images_cookie(images, &file, tgid, now_ns);
 */
#pragma once

#include "bpf/sample.h"
#include "identity/cookie.h"

#include <stdint.h>

struct opener;
struct sampler_images;
struct unwind_rules;
struct unwind_table;

/* Creates an empty table. @root is the prefix of /proc, copied; @cookies is borrowed. Caller
 * frees. */
struct sampler_images *sampler_images_new(const char *root, struct cookie_table *cookies);
/* Frees the table; accepts NULL. */
void sampler_images_free(struct sampler_images *t);

/* Adds a file that the program reports for the first time or again. Identifies it at once, while
 * the process still has it mapped. */
void sampler_images_add(struct sampler_images *t, const struct sample_image *image);

/* The cookie for a sample of process @tgid in @file; EVBUF_NO_COOKIE if the file was not
 * reported. */
uint64_t sampler_images_cookie(struct sampler_images *t, const struct sample_file *file,
			       uint32_t tgid, uint64_t now_ns);

/* Calls that go through the files step by step. */
struct sampler_images_walk {
	void (*each)(const struct sample_file *file, void *data);
	void *data;
	bool unsure; /* only files whose inode number could be reused undetected, because their file
		      * system keeps no generations */
};
/* Calls ->each with up to @count files from number @from on. Returns the number to go on with; 0 at
 * the end. Files that are added meanwhile come last; after a sweep, start again. */
size_t sampler_images_walk(const struct sampler_images *t, const struct sampler_images_walk *walk,
			   size_t from, size_t count);
/* Keeps @file from being swept, if it is known. */
void sampler_images_use(struct sampler_images *t, const struct sample_file *file);
/* Sweeps the cookies, and forgets the files that had them; returns the number of cookies. The
 * program must have reported all files again whose samples may come from now on. */
size_t sampler_images_sweep(struct sampler_images *t);

/* The path in @image, as the process sees it; caller frees. */
char *sampler_image_path(const struct sample_image *image);
/* Opens the file of @image. Returns a descriptor, which the caller closes, or -1. */
int sampler_image_open(const struct sample_image *image);
/* Has the unwind table of the file of @image built by a process that may hang (opener_table()). */
int sampler_image_table(struct opener *opener, const struct sample_image *image,
			struct unwind_rules *rules, struct unwind_table **ret);
