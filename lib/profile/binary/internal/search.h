/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks for the file of one image of a profile, and for its debug file: on this machine below the
 * roots, in the image paths, and among what was downloaded.
 *
 *	struct search s = search_for(bs, image, header);
 *	enum binary_why why;
 *	if (search_file(&s, &why))
 *		elffile_close(s.ef);
 */
#pragma once

#include "profile/binary/binary_why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct binary;
struct build_id;
struct elffile;
struct filefind;
struct gather;
struct gather_image;
struct kernel_binaries;
struct sfile_header;
struct symcache;
struct symtab;

enum {
	ROOTS_MAX = 16,
	WARNINGS_MAX = 3 /* warnings about changed files; further ones are only counted */
};

/* Paths of downloaded files of an image; NULL: none. */
struct fetched {
	char *file, *debug;
};

/* What became of an image. */
enum outcome { NOT_OPENED, OPENED, GONE /* its functions were kept */ };

struct binaries {
	const struct gather *gather;
	const char *root; /* of images that are in no archive */
	/* Roots to look for files: the root, then the image paths, which may be roots. */
	const char *roots[ROOTS_MAX];
	size_t root_count;
	char *root_copies[ROOTS_MAX];
	struct filefind *found; /* files below the image paths, by name */
	struct kernel_binaries *kernels;
	const struct binaries *lender; /* or NULL */
	struct binary *kept;	       /* one per image; NULL: none is kept */
	bool *lends; /* one per image: kept, and the same in all profiles of the session */
	size_t lends_count;
	struct symcache *cache;	 /* NULL: symbols come from the files */
	struct fetched *fetched; /* one per image, ->image_count of them */
	uint8_t *outcomes;	 /* the same: enum outcome */
	size_t image_count;	 /* number of images at creation */
	char *reading;		 /* name of the image being opened, PATH_MAX bytes; or NULL */
	size_t opened;
	size_t changed; /* images whose file has changed */
};

/* The search for the file of one image. */
struct search {
	struct binaries *bs;
	uint32_t number; /* of the image in the gather */
	const struct gather_image *image;
	const struct sfile_header *header;
	const char *path; /* in the profiled system */
	/* As those of ->bs, which has their number; but the first is the archive that has the
	 * image, if any. */
	const char *roots[ROOTS_MAX];
	struct elffile *ef;	 /* the file that was taken */
	struct elffile *changed; /* one that was found but is not the right one */
	bool is_absent;		 /* there is no file in any place, so it is not looked for again */
	char *unreadable;	 /* why one that was found could not be opened, or NULL */
	void (*read)(struct search *s, struct binary *ret); /* its symbols, out of the file */
	char *read_path; /* of the file that ->read found; the caller frees */
};

/* Paths at which a file may be. */
struct search_places {
	char *paths[2 * ROOTS_MAX + 1];
	size_t count;
};

/* Fills *@ret for one search: below each root the path that the process saw, and the one that the
 * host sees; then the path of what was downloaded. */
void search_places_init(struct search_places *ret, const struct search *s);
void search_places_done(struct search_places *p);

/* A search for image number @image, whose samples are in a file with @header; not started yet. */
struct search search_for(struct binaries *bs, uint32_t image, const struct sfile_header *header);
/* Looks for the file: below each root at its paths, then in the image paths by its name, then among
 * what was downloaded. True with s->ef; the caller closes that and s->changed,
 * and frees s->unreadable. */
bool search_find(struct search *s);
/* The path of the functions that were kept of the file when it was sampled; caller frees. NULL if
 * there are none. */
char *search_kept(const struct search *s);
/* Makes a table of them, which the caller frees, and which holds their path, *@ret_path; false if
 * they cannot be read. */
bool search_read_kept(const struct search *s, struct symtab **ret, const char **ret_path);
/* As search_find(), but warns about a file that is not the profiled one, unless its functions were
 * kept, and closes s->changed. Returns false with the reason in *@ret. */
bool search_file(struct search *s, enum binary_why *ret);
/* The debug file of @ef: one on this machine, else the one that was downloaded, else the symbols
 * embedded in @ef; NULL if there is none. Caller closes. */
struct elffile *search_debug(const struct search *s, const struct elffile *ef);
/* The first file that can be the profiled one according to the file system, with *ret; caller
 * frees. NULL if there is none: then s->is_absent is set. */
char *search_unopened(struct search *s, struct stat *ret);
/* Whether a debug file with that build-id is installed. */
bool search_has_debug(const struct search *s, const struct build_id *id);
/* Warns if the file at @path was changed in place after it was profiled, as far as its inode shows;
 * or if @mtime is not that in the sample file's header, the only check possible in sessions without
 * a manifest. */
void search_check_time(const struct search *s, const char *path, uint64_t mtime);

/* A cache key for a file that only the file system distinguishes from others; @unit is the base of
 * its symbols. Caller frees. */
char *search_key_of_file(const struct stat *st, const char *unit);
/* The key of symbols that were read from the file @path, which its build-id identifies or, if there
 * is none, its inode as @st describes it. Anybody can make a file with any build-id, so the path is
 * a part of the key: who cannot write there cannot change what the cache has. Caller frees. */
char *search_key(const struct search *s, const char *path, const struct stat *st);
