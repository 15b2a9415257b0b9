/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Images as named in sample files. There is one struct sampled_image for each name, so that equal
 * names are equal pointers. It is found by cookie, kernel range or /proc maps. All belong to the
 * table and live until sampled_image_sweep(), sampled_image_forget() or sampled_image_table_free().
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
	struct sname_image image;  /* its string belongs to the table */
	uint64_t mtime;		   /* seconds; 0: unknown or none */
	bool is_kernel;		   /* kernel or module */
	bool is_source;		   /* a source file: offsets are places of source_files.h */
	bool is_shared;		   /* by source files that are too many to have one each */
	bool selected;		   /* as application: selected by --image */
	uint32_t id;		   /* number in the table, for hashing */
	uint32_t chain_number;	   /* in the chain store, */
	uint32_t chain_epoch;	   /* in this epoch of the chain recorder; 0: never looked up */
	uint32_t age;		   /* of the table when it was last looked up */
	struct store_file *recent; /* shortcut of the store: a file of this image, or NULL */
};

struct sampled_images;
struct opener;
struct parser;
struct relief;

/* @samples is the session's directory, @root the parent of /proc, @select the list of --image (or
 * NULL); all are copied. @cookies, and @relief, for while files are used (or NULL), are borrowed
 * for the table's life. Caller frees. */
struct sampled_images *sampled_image_table_new(const char *samples, const char *root,
					       const char *select,
					       const struct cookie_table *cookies,
					       struct relief *relief);
/* The parser and the opener of the table; borrowed, may be NULL. */
struct parser *sampled_image_parser(const struct sampled_images *t);
struct opener *sampled_image_opener(const struct sampled_images *t);
/* NULL is fine. */
void sampled_image_table_free(struct sampled_images *t);

/* Creates the session's directory and opens its manifest for writing, unless already done since the
 * start or sampled_image_forget(). Returns 0 or -errno; after a failure files are named by their
 * paths. */
int sampled_image_open_manifest(struct sampled_images *t, const char *session_dir,
				const char *session_name, struct error *err);
/* Frees all images and closes the manifest, so that the session's directory can be moved or
 * removed. */
void sampled_image_forget(struct sampled_images *t);

/* Begins a new list of the images in use. It has the images that are known now, and gets those that
 * are looked up later. */
void sampled_image_note_used(struct sampled_images *t);
/* Whether the image called @name is in that list. */
bool sampled_image_was_used(const struct sampled_images *t, const char *name);
/* Whether there is such a list: sampled_image_forget(), and more than 250,000 names, end it. */
bool sampled_image_has_noted(const struct sampled_images *t);
/* Opens the manifest, which somebody has replaced. 0 or -errno. */
int sampled_image_reopen_manifest(struct sampled_images *t, struct error *err);

/* Returns whether there are so many images that those unused for long are to be swept: first
 * sampled_image_use() those that somebody holds, let go of all others, then sweep. @now_ns:
 * CLOCK_MONOTONIC. */
bool sampled_image_are_many(const struct sampled_images *t, uint64_t now_ns);
/* Whether @b would be swept now. */
bool sampled_image_is_old(const struct sampled_images *t, const struct sampled_image *b);
/* Keeps @b (may be NULL) from being swept. */
void sampled_image_use(const struct sampled_images *t, const struct sampled_image *b);
/* Frees the images that were not looked up since the last sweep, except those of the kernel, and
 * those that are shared. They get the same names when they are sampled again. Returns how many. */
size_t sampled_image_sweep(struct sampled_images *t, uint64_t now_ns);
/* Whether the image of a file is known that is called @name. */
bool sampled_image_has_file(const struct sampled_images *t, const char *name);

/* What became of the images of source files. */
struct sampled_image_sources {
	uint64_t shared; /* functions whose file got no image of its own: too many had one */
	uint64_t swept;	 /* images that were freed as they were not sampled for long */
};

struct sampled_image_sources sampled_image_sources(const struct sampled_images *t);

/* The image of a cookie, or NULL if it is unknown. A new image is entered in the manifest. */
struct sampled_image *sampled_image_of_cookie(struct sampled_images *t, uint64_t cookie);

/* The anonymous region of process @tgid that contains @pc, from /proc/TGID/maps, which is read for
 * each new region; NULL if it no longer exists. */
struct sampled_image *sampled_image_of_region(struct sampled_images *t, uint32_t tgid, uint64_t pc);

/* Anonymous memory of process @tgid, named by the kernel's label ("[heap]") or "anon". */
struct sampled_image *sampled_image_region(struct sampled_images *t, uint32_t tgid, uint64_t start,
					   uint64_t end, const char *label);

/* {kern}/@name. */
struct sampled_image *sampled_image_kernel(struct sampled_images *t, const char *name,
					   bool is_kernel);

/* {root}/NAME, where NAME is the name of @file in the manifest (its path if the manifest cannot be
 * written). */
struct sampled_image *sampled_image_file(struct sampled_images *t,
					 const struct manifest_image *file, bool is_kernel);
