/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Images as sample files name them. There is one struct sampled_image for each name, so that equal
 * names are equal pointers; it is found by cookie, kernel range or /proc maps. All belong to the
 * table and live until sampled_image_forget() or sampled_image_table_free().
 *
 *	struct sampled_image *b = sampled_image_of_cookie(t, cookie);
 *	struct sname name = { .image = b->image };
 */
#pragma once

#include "base/error.h"
#include "sfile/sname.h"

#include <stdbool.h>
#include <stdint.h>

struct cookie_table;
struct manifest_image;
struct store_file;

struct sampled_image {
	struct sname_image image;  /* its string is the table's */
	uint64_t mtime;		   /* seconds; 0: unknown or none */
	bool is_kernel;		   /* kernel or module */
	bool selected;		   /* as application: --image asks for it */
	uint32_t id;		   /* number in the table, for hashing */
	uint32_t chain_number;	   /* in the chain store; 0: not asked for yet */
	struct store_file *recent; /* the store's shortcut: a file of this image, or NULL */
};

struct sampled_images;
struct parser;

/* @samples is the session's directory, @root where /proc lies, @select the list of --image (or
 * NULL); all are copied. @cookies is borrowed for the table's life. Caller frees. */
struct sampled_images *sampled_image_table_new(const char *samples, const char *root,
					       const char *select,
					       const struct cookie_table *cookies);
/* Who reads files for it; borrowed, may be NULL. */
struct parser *sampled_image_parser(const struct sampled_images *t);
/* NULL is fine. */
void sampled_image_table_free(struct sampled_images *t);

/* Creates the session's directory and opens its manifest for writing, if that was not done since
 * the start or sampled_image_forget(); 0 or -errno, after which files are named by their paths. */
int sampled_image_open_manifest(struct sampled_images *t, const char *session_dir,
				const char *session_name, struct error *err);
/* Frees all images and closes the manifest: the session's directory may go away. */
void sampled_image_forget(struct sampled_images *t);

/* The image of a cookie, or NULL if nobody knows it; at first sight it is entered in the manifest.
 */
struct sampled_image *sampled_image_of_cookie(struct sampled_images *t, uint64_t cookie);

/* The anonymous region of process @tgid around @pc by /proc/TGID/maps, read at each first sight;
 * NULL if there is none any more. */
struct sampled_image *sampled_image_of_region(struct sampled_images *t, uint32_t tgid, uint64_t pc);

/* Anonymous memory of process @tgid under the kernel's label if it has one of its own ("[heap]"),
 * else under "anon". */
struct sampled_image *sampled_image_region(struct sampled_images *t, uint32_t tgid, uint64_t start,
					   uint64_t end, const char *label);

/* {kern}/@name. */
struct sampled_image *sampled_image_kernel(struct sampled_images *t, const char *name,
					   bool is_kernel);

/* {root}/NAME where NAME is the name of @file in the manifest (its path if that cannot be written).
 */
struct sampled_image *sampled_image_file(struct sampled_images *t,
					 const struct manifest_image *file, bool is_kernel);
